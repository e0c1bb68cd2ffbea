import { expect } from 'chai'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import type { TestVenue } from '../support/venue.js'
import { mountFailingDisk, type FailingDisk } from './stage/failing-disk.js'
import { endlessSteps, startLoad, type Answered, type Load } from './stage/load.js'
import { keepOpen } from './stage/kill-loop.js'
import { openOutsideChain, type OutsideChain } from './stage/outside-venue.js'
import { expectReconciled, readAllBalances } from './stage/reconcile.js'
import { createTrader, SPOT } from './stage/trader.js'

const MIB = 1024 * 1024
const DISK_BYTES = 1_024 * MIB
const PER_SECOND = 30
const QUIET_WITHIN_MS = 120_000

const mounted = mountFailingDisk(DISK_BYTES)

// Without a body the runner lists it as pending.
if ('why' in mounted)
  describe('a venue on a disk of its own', () => void it(`not tried: ${mounted.why}`))
else describe('a venue on a disk of its own', () => withDisk(mounted))

/** The chain is another's: what was settled is there, whatever becomes of the disk. */
function withDisk(disk: FailingDisk): void {
  let chain: OutsideChain
  let venue: TestVenue
  let port = ''
  let balances: Awaited<ReturnType<typeof readAllBalances>>
  let steps: ReturnType<typeof endlessSteps>
  const answered: Answered[] = []

  /** At the same address, so that a client goes on where it was. */
  const start = async () => {
    venue = await chain.start({ env: { GATEWAY_PORT: port } })
  }
  before(async () => {
    chain = await openOutsideChain(disk.path)
    disk.sync()
    port = `${await freePort()}`
    await start()
    steps = endlessSteps([0, 1, 2].map((name) => createTrader(venue.devnet, name)))
    balances = await readAllBalances(venue)
  })
  after(async () => {
    await venue?.stop({ keepData: true })
    await chain?.remove()
    await disk.remove()
  })

  /** Runs load, has something happen in the middle of it, and goes on with it until steps are answered again. */
  async function underLoad(happens: (load: Load) => Promise<void>): Promise<void> {
    const { gatewayUrl } = venue
    const load = startLoad({ gatewayUrl, steps: keepOpen(steps), perSecond: PER_SECOND })
    try {
      await eventually(() => load.sent() >= 3 * PER_SECOND)
      await happens(load)
      await venue.untilReady()
      await load.untilAnswered()
    } finally {
      load.stop()
    }
    answered.push(...(await load.answered()))
  }
  async function expectNothingLost(): Promise<void> {
    const trades = await expectReconciled(venue, answered, {
      before: balances,
      quietWithinMs: QUIET_WITHIN_MS,
    })
    expect(trades.get(SPOT)).to.be.above(10)
    const { code, output } = await runAudit({
      PATH: process.env.PATH,
      DATA_DIR: venue.dataDir,
      RPC_URL: chain.node.rpcUrl,
    })
    expect(output).to.not.match(/^failed/m)
    expect(code, output).to.equal(0)
  }

  it('loses and doubles nothing when all processes and the bus are killed at once under load (OPE-017)', async () => {
    await underLoad(async () => {
      const pids = Object.values(await venue.pids())
      for (const pid of [venue.launcherPid, ...pids]) process.kill(pid, 'SIGKILL')
      await venue.stop({ keepData: true })
      await start()
    })
    await expectNothingLost()
  })

  it('says that its disk has become read-only under load, and has lost and doubled nothing once that is repaired', async () => {
    await underLoad(async (load) => {
      disk.fail()
      const sent = load.sent()
      await eventually(() => load.sent() > sent + 3 * PER_SECOND)
      await eventually(() => expect(venue.output()).to.match(/read-only file system/i))
      await venue.stop({ keepData: true })
      await disk.repair()
      await start()
    })
    await expectNothingLost()
  })

  it('does not start on a bus that has lost its newest messages, names each stream that it knows better, and goes on with the newest store', async () => {
    const store = join(venue.dataDir, 'nats', 'store')
    await venue.stop({ keepData: true })
    cpSync(store, `${store}.older`, { recursive: true })
    await start()
    await underLoad(() => Promise.resolve())
    await venue.stop({ keepData: true })
    renameSync(store, `${store}.newest`)
    renameSync(`${store}.older`, store)
    let said = ''
    // The launcher ends at the first process that cannot start; another start shows what the others say.
    await eventually(async () => {
      said += await start().then(
        () => 'it started',
        (error: Error) => error.message,
      )
      expect(said).to.match(/FEED_cNGN-USDC ends at \d+, expected \d+/)
      expect(said).to.match(
        /COMMANDS_cNGN-USDC ends at \d+, but it once reached \d+: it was rolled/,
      )
      expect(said).to.match(/folded up to message \d+ of JOURNAL_executor, which ends with \d+/)
    }, 120_000)
    expect(said).to.not.include('it started')
    rmSync(store, { recursive: true })
    renameSync(`${store}.newest`, store)
    await start()
    await underLoad(() => Promise.resolve())
    await expectNothingLost()
  })
}
