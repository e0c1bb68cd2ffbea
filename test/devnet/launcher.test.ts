import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { callChain } from '../../devnet/chain/anvil.js'
import { identify } from '../../devnet/launcher/pids.js'
import { inheritedEnvironment } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { publishPrices } from '../support/venue-prices.js'
import { startVenue, type StartVenueOptions, type TestVenue } from '../support/venue.js'
import { ENDS_AT_LAST } from '../support/ends-at-last.js'

const WORKERS = ['executor', 'gateway', 'matcher-a', 'order-intake']
const STAND_IN = 'exec node dist/test/devnet/fake-worker.js'

/** The real launcher, bus and chain; the venue's own processes are stand-ins. */
describe('devnet/launcher', function () {
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
    await eventually(() => Object.values(pids).every((pid) => identify(pid) === undefined))
  }

  const codeAt = (venue: TestVenue) =>
    callChain(venue.devnet.rpc_url, 'eth_getCode', [venue.devnet.matching, 'latest'])

  it('brings everything up, describes it, heals it and continues it', async () => {
    const venue = await start({ feeder: true, demoAccounts: true })
    let pids: Record<string, number> = {}
    // Stand-ins are ready before the launcher has noted the last of them.
    await eventually(async () => {
      pids = await venue.pids()
      expect(Object.keys(pids).sort()).to.deep.equal([
        ...['chain', 'demo-accounts'],
        'executor',
        'feeder',
        ...WORKERS.slice(1, 3),
        'nats-server',
        'order-intake',
      ])
    })
    const { devnet } = venue
    expect(devnet).to.include({
      chain_id: 836_832_646,
      auth_domain: 'localhost',
      gateway_url: venue.gatewayUrl,
    })
    expect(devnet.accounts).to.have.length(6)
    expect(new Set(devnet.accounts.map((account) => account.spot_subaccount_id)).size).to.equal(6)
    expect(await codeAt(venue)).to.not.equal('0x')
    expect(BigInt((await blockOf(venue)).gasLimit)).to.equal(240_000_000n)

    const refused = spawnSync(process.execPath, ['bundle/devnet/up.js'], {
      env: { ...inheritedEnvironment(), DATA_DIR: venue.dataDir },
      encoding: 'utf8',
      ...ENDS_AT_LAST,
    })
    expect(refused.status).to.equal(1)
    expect(refused.stderr).to.include(`in use by the launcher with process id ${venue.launcherPid}`)

    for (const victim of ['gateway', 'nats-server', 'chain']) await venue.kill(victim, 'SIGKILL')
    await eventually(async () => {
      const now = await venue.pids()
      return ['gateway', 'nats-server', 'chain'].every(
        (name) => now[name] !== undefined && now[name] !== pids[name],
      )
    })
    await eventually(async () => (await codeAt(venue)) !== '0x')
    await eventually(() => answers(venue.gatewayUrl))
    await publishPrices(venue, { index: '0.0007', mark: '0.00071' })
    const height = BigInt((await blockOf(venue)).number)
    const last = await venue.pids()
    expect(await venue.stop({ keepData: true })).to.equal(0)
    await allGone(last)
    expect(await readFile(join(venue.dataDir, 'ends.log'), 'utf8')).to.match(
      /^gateway\n(matcher-a\norder-intake|order-intake\nmatcher-a)\nexecutor\n$/,
    )

    const ofLastRun = join(venue.dataDir, 'metrics', 'gone.json')
    await mkdir(dirname(ofLastRun), { recursive: true })
    await writeFile(ofLastRun, '[]')
    const env = { DEVNET_CHAIN_ID: '836832647' }
    const next = await start({ dataDir: venue.dataDir, feeder: true, env })
    expect(existsSync(ofLastRun)).to.equal(false)
    // What is signed and deployed holds the id: a chain that is continued keeps it.
    expect(next.devnet.chain_id).to.equal(devnet.chain_id)
    expect(await callChain(next.devnet.rpc_url, 'eth_chainId')).to.equal('0x31e10d86')
    expect(next.output()).to.match(/the chain in \S+ keeps its id 836832646/)
    await publishPrices(next, { index: '0.0006', bid: '0.00059', ask: '0.00061' })
    expect(next.devnet.matching).to.equal(devnet.matching)
    expect(next.devnet.accounts).to.deep.equal(devnet.accounts)
    expect(await codeAt(next)).to.not.equal('0x')
    expect(BigInt((await blockOf(next)).number) >= height).to.equal(true)
    await next.stop()
  })

  it('leaves no process behind when it is killed itself', async () => {
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

/** Resolves once the stand-in for the gateway answers; rejects while it does not listen. */
function answers(url: string): Promise<unknown> {
  return once(
    get(new URL('/readyz', url), (response) => response.resume()),
    'response',
  )
}

async function blockOf(venue: TestVenue) {
  const block = await callChain(venue.devnet.rpc_url, 'eth_getBlockByNumber', ['latest', false])
  return block as { readonly number: string; readonly gasLimit: string }
}
