import { expect } from 'chai'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { endlessSteps, startLoad, type Load } from './stage/load.js'
import { expectReconciled, readAllBalances } from './stage/reconcile.js'
import { createTrader, SPOT } from './stage/trader.js'

const PER_SECOND = 50
/** Load that goes on for at least 25 seconds. */
const LEAST_STEPS = 25 * PER_SECOND
/** Load between two restarts. */
const STEPS_BETWEEN = PER_SECOND
const TRADERS = [0, 1, 2, 3]

const RESTARTS: readonly (readonly [string, NodeJS.Signals])[] = [
  ['gateway', 'SIGTERM'],
  ['order-intake', 'SIGKILL'],
  ['matcher-cngn-usdc', 'SIGTERM'],
  ['chain', 'SIGKILL'],
  ['projector', 'SIGKILL'],
  ['executor', 'SIGKILL'],
  ['ws-fanout', 'SIGTERM'],
  ['nats-server', 'SIGKILL'],
  ['matcher-cngn-usdc', 'SIGKILL'],
  ['executor', 'SIGTERM'],
]

describe('restarts of every process under load', function () {
  let venue: TestVenue
  before(async () => {
    venue = await startVenue({ blockTime: 1 })
  })
  after(async () => {
    await venue?.stop()
  })

  async function restartAll(load: Load): Promise<void> {
    for (const [worker, signal] of RESTARTS) {
      const from = load.sent()
      await eventually(() => load.sent() >= from + STEPS_BETWEEN)
      // Of the process that was restarted before; the answer may be a second old, which the load has taken by now.
      await venue.untilReady()
      await venue.restartWorker(worker, signal)
    }
    await eventually(() => load.sent() >= LEAST_STEPS, 30_000)
  }

  it('lose and double nothing', async () => {
    const traders = TRADERS.map((name) => createTrader(venue.devnet, name))
    const steps = endlessSteps(traders)
    const before = await readAllBalances(venue)
    const load = startLoad({ gatewayUrl: venue.gatewayUrl, steps, perSecond: PER_SECOND })
    await restartAll(load).finally(() => load.stop())
    const trades = await expectReconciled(venue, await load.answered(), { before })
    expect(trades.get(SPOT), 'trades').to.be.above(100)
  })
})
