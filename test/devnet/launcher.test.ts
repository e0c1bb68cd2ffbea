import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { callChain } from '../../devnet/chain-rpc.js'
import { identify } from '../../devnet/process-identity.js'
import { waitFor } from '../../devnet/wait-for.js'
import { inheritedEnvironment } from '../support/config.js'
import { startVenue } from '../support/venue.js'
import type { StartVenueOptions, TestVenue } from '../support/venue.js'

const WORKERS = ['executor', 'gateway', 'matcher-a', 'order-intake']
const STAND_IN = 'exec node dist/test/support/fake-worker.js'

/** The real launcher, bus and chain; the venue's own processes are stand-ins. */
describe('devnet/launcher', function () {
  this.timeout(120_000)
  let dir = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'venue-launcher-'))
  })
  after(() => rm(dir, { recursive: true, force: true }))

  async function start(options: StartVenueOptions = {}, habits: Record<string, string> = {}) {
    const procfile = join(dir, 'Procfile')
    const lines = WORKERS.map((name) => `${name}: ${STAND_IN} ${name} ${habits[name] ?? ''}`)
    await writeFile(procfile, lines.join('\n'))
    return startVenue({ ...options, env: { PROCFILE: procfile, ...options.env } })
  }

  async function allGone(pids: Record<string, number>) {
    await waitFor('every process to be gone', 8_000, () =>
      Promise.resolve(Object.values(pids).every((pid) => identify(pid) === undefined) || undefined),
    )
  }

  const codeAt = (venue: TestVenue) =>
    callChain(venue.devnet.rpc_url, 'eth_getCode', [venue.devnet.matching, 'latest'])

  it('brings everything up, describes it, heals it and continues it', async () => {
    const venue = await start()
    const pids = await venue.pids()
    expect(Object.keys(pids).sort()).to.deep.equal([
      'chain',
      ...WORKERS.slice(0, 3),
      'nats-server',
      'order-intake',
    ])
    const { devnet } = venue
    expect(devnet).to.include({
      chain_id: 8453,
      auth_domain: 'localhost',
      gateway_url: venue.gatewayUrl,
    })
    expect(devnet.accounts).to.have.length(6)
    expect(new Set(devnet.accounts.map((account) => account.spot_subaccount_id)).size).to.equal(6)
    expect(await codeAt(venue)).to.not.equal('0x')
    expect(BigInt((await blockOf(venue)).gasLimit)).to.equal(240_000_000n)

    const refused = spawnSync(process.execPath, ['dist/devnet/up.js'], {
      env: { ...inheritedEnvironment(), DATA_DIR: venue.dataDir },
      encoding: 'utf8',
    })
    expect(refused.status).to.equal(1)
    expect(refused.stderr).to.include(`in use by the launcher with process id ${venue.launcherPid}`)

    for (const victim of ['gateway', 'nats-server', 'chain']) await venue.kill(victim, 'SIGKILL')
    await waitFor('three successors', 10_000, async () => {
      const now = await venue.pids()
      return (
        ['gateway', 'nats-server', 'chain'].every(
          (name) => now[name] !== undefined && now[name] !== pids[name],
        ) || undefined
      )
    })
    await waitFor(
      'the chain to know its contracts again',
      10_000,
      async () => (await codeAt(venue)) !== '0x' || undefined,
    )
    await waitFor('the new gateway to answer', 10_000, () => answers(venue.gatewayUrl))
    const height = BigInt((await blockOf(venue)).number)
    const last = await venue.pids()
    expect(await venue.stop({ keepData: true })).to.equal(0)
    await allGone(last)
    expect(await readFile(join(venue.dataDir, 'ends.log'), 'utf8')).to.match(
      /^gateway\n(matcher-a\norder-intake|order-intake\nmatcher-a)\nexecutor\n$/,
    )

    const next = await start({ dataDir: venue.dataDir })
    expect(next.devnet.matching).to.equal(devnet.matching)
    expect(next.devnet.accounts).to.deep.equal(devnet.accounts)
    expect(await codeAt(next)).to.not.equal('0x')
    expect(BigInt((await blockOf(next)).number) >= height).to.equal(true)
    await next.stop()
  })

  it('leaves nobody behind when it is killed itself', async () => {
    const venue = await start({}, { 'matcher-a': 'stubborn' })
    const pids = await venue.pids()
    process.kill(venue.launcherPid, 'SIGKILL')
    await allGone(pids)
    await rm(venue.dataDir, { recursive: true, force: true })
  })

  it('gives up a start in which a process keeps ending, and says where to look', async () => {
    const outcome = await start({}, { gateway: 'unready', 'order-intake': 'crash' }).catch(String)
    expect(outcome).to.match(/order-intake \| this one always crashes/)
    expect(outcome).to.match(/order-intake has ended 5 times in a row; see .*order-intake\.log/)
  })

  it('names the variable of a port that is taken', async () => {
    const venue = await start()
    const port = new URL(venue.gatewayUrl).port
    const outcome = await start({ env: { EXECUTOR_PORT: port } }).catch(String)
    await venue.stop()
    expect(outcome).to.match(new RegExp(`port ${port} cannot be used .*; set EXECUTOR_PORT`))
  })
})

/** Whether the stand-in for the gateway listens; undefined while it does not. */
async function answers(url: string): Promise<true | undefined> {
  const asked = get(new URL('/readyz', url), (response) => response.resume())
  return once(asked, 'response').then(
    () => true as const,
    () => undefined,
  )
}

async function blockOf(venue: TestVenue) {
  const block = await callChain(venue.devnet.rpc_url, 'eth_getBlockByNumber', ['latest', false])
  return block as { readonly number: string; readonly gasLimit: string }
}
