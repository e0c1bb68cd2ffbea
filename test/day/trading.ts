import { expect } from 'chai'
import { rm } from 'node:fs/promises'
import { createRestClient } from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { openAllMarkets, type AllMarkets } from '../e2e/stage/all-markets.js'
import { expectAudited, keepOpen, KILL_LOOP_VENUE } from '../e2e/stage/kill-loop.js'
import { startLoad, type Answered } from '../e2e/stage/load.js'
import { expectReconciled, readAllBalances } from '../e2e/stage/reconcile.js'

/**
 * A venue that trades on the day that the clock shows. The calendar test runs it on another day; its name keeps it out of the
 * suite otherwise.
 */

const PER_SECOND = 15
const STEPS = 100

describe(`a venue on ${new Date().toISOString().slice(0, 10)}`, function () {
  let venue: TestVenue
  let all: AllMarkets
  const answered: Answered[] = []
  before(async () => {
    venue = await startVenue(KILL_LOOP_VENUE)
  })
  after(async () => {
    await venue?.stop()
    if (venue !== undefined) await rm(venue.dataDir, { recursive: true, force: true })
  })

  async function untilOpen(): Promise<void> {
    const rest = createRestClient(venue.gatewayUrl)
    await eventually(async () => {
      const open = (await rest.markets()).filter((it) => it.trading_status === 'open')
      expect(open.map(({ market }) => market)).to.include.members([...all.names])
    }, 60_000)
  }

  async function trade(before: Awaited<ReturnType<typeof readAllBalances>>): Promise<void> {
    const steps = keepOpen(all.steps)
    const load = startLoad({ gatewayUrl: venue.gatewayUrl, steps, perSecond: PER_SECOND })
    await eventually(() => load.sent() >= STEPS, 60_000).finally(() => load.stop())
    answered.push(...(await load.answered()))
    const trades = await expectReconciled(venue, answered, { before, markets: all.names })
    expect(trades.size).to.equal(3)
    for (const [market, count] of trades) expect(count, market).to.be.above(2)
  }

  it('trades a market of each kind, before and after a restart, and is found right by the audit', async () => {
    all = await openAllMarkets(venue)
    const before = await readAllBalances(venue)
    await trade(before)
    const { dataDir } = venue
    await venue.stop({ keepData: true })
    venue = await startVenue({ ...KILL_LOOP_VENUE, dataDir })
    await untilOpen()
    await trade(before)
    await expectAudited(venue)
  })
})
