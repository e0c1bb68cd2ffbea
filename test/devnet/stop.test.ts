import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { callChain } from '../../devnet/chain/anvil.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { identify } from '../../devnet/launcher/pids.js'
import { inheritedEnvironment } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'

/** Longer than the chain was given once. */
const FROZEN_MS = 3_000

/** The real launcher, bus and chain; the gateway is a stand-in. */
describe('a venue that stops while its chain is slow to save', function () {
  let dir = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'venue-stop-'))
  })
  after(() => rm(dir, { recursive: true, force: true }))

  async function start(dataDir?: string): Promise<TestVenue> {
    const procfile = join(dir, 'Procfile')
    await writeFile(procfile, 'gateway: exec node dist/test/devnet/fake-worker.js gateway')
    return startVenue({ env: { PROCFILE: procfile }, ...(dataDir && { dataDir }) })
  }
  const hasEnded = (venue: TestVenue) => identify(venue.launcherPid) === undefined
  const ended = (venue: TestVenue) => eventually(() => hasEnded(venue))
  const MARKED = '0x00000000000000000000000000000000000c0de5'

  it('waits for it, and loses nothing', async () => {
    const venue = await start()
    // No block is made of it: it is in the last saved state alone.
    await callChain(venue.devnet.rpc_url, 'anvil_setBalance', [MARKED, '0x7'])
    await venue.kill('chain', 'SIGSTOP')
    process.kill(venue.launcherPid, 'SIGTERM')
    await eventually(() => expect(venue.output()).to.include('saving the chain ...'))
    // What ./venue down sends, once more.
    process.kill(venue.launcherPid, 'SIGTERM')
    await delay(FROZEN_MS)
    expect(hasEnded(venue)).to.equal(false)
    await venue.kill('chain', 'SIGCONT')
    expect(await venue.stop({ keepData: true })).to.equal(0)
    expect(venue.output()).to.match(/save the chain: /)
    const next = await start(venue.dataDir)
    const balance = await callChain(next.devnet.rpc_url, 'eth_getBalance', [MARKED, 'latest'])
    expect(balance).to.equal('0x7')
    await next.stop()
  })

  it('is cut short by a second Ctrl-C alone, which says what is lost', async () => {
    const venue = await start()
    await venue.kill('chain', 'SIGSTOP')
    const pids = await venue.pids()
    process.kill(venue.launcherPid, 'SIGINT')
    await eventually(() => expect(venue.output()).to.include('saving the chain ...'))
    expect(hasEnded(venue)).to.equal(false)
    await delay(600)
    process.kill(venue.launcherPid, 'SIGINT')
    await ended(venue)
    expect(await venue.stop()).to.equal(1)
    expect(venue.output()).to.match(
      /the stop is cut short: it continues from its state of \d+ s ago, and the next start reverses/,
    )
    await eventually(() => Object.values(pids).every((pid) => identify(pid) === undefined))
  })

  it('is waited for by ./venue down, which says for what', async () => {
    const venue = await start()
    await venue.kill('chain', 'SIGSTOP')
    const down = startDown(venue.dataDir)
    await eventually(() => expect(down.said()).to.include('saving the chain ...\n'))
    await delay(FROZEN_MS)
    expect(hasEnded(venue)).to.equal(false)
    await venue.kill('chain', 'SIGCONT')
    expect(await down.exited).to.deep.equal([0, null])
    expect(down.said()).to.include(`stopped the venue in ${venue.dataDir}\n`)
    await ended(venue)
    await venue.stop()
  })
})

function startDown(dataDir: string) {
  const env = { ...inheritedEnvironment(), DATA_DIR: dataDir }
  const down = spawn(inProject('venue'), ['down'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  down.stdout.on('data', (data: Buffer) => (said += data.toString()))
  return { said: () => said, exited: once(down, 'close') }
}
