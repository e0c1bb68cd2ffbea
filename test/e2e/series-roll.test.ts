import { expect } from 'chai'
import { createRestClient } from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { prepareEndingVenue, type EndingVenue } from './stage/ending-series.js'
import { registeredMarket, openSeriesTraders, runCommand } from './stage/series.js'

const WITHIN_MS = 100_000
/** 10,000 USDC and 10,000,000 cNGN. */
const FUNDS = { usdc: 10_000_000_000n, cngn: 10_000_000_000_000n }

const startOn = ({ dataDir, calendar: FUTURES_CALENDAR }: EndingVenue) =>
  startVenue({
    dataDir,
    markets: 'all',
    feeder: true,
    env: { FUTURES_CALENDAR, FEEDER_EVERY_S: '2' },
  })

const seriesOf = async ({ gatewayUrl }: TestVenue) =>
  (await createRestClient(gatewayUrl).markets()).filter(({ future }) => future !== undefined)
const namesOf = async (venue: TestVenue) => (await seriesOf(venue)).map(({ market }) => market)
const untilListed = (venue: TestVenue, names: readonly string[]) =>
  eventually(async () => expect(await namesOf(venue)).to.have.members([...names]), WITHIN_MS)

/** `./venue status` finds nothing wrong. */
async function untilWell(venue: TestVenue): Promise<void> {
  await venue.untilReady()
  await eventually(async () => {
    const { code, output } = await runCommand(venue, 'status')
    expect(code, output).to.equal(0)
  }, WITHIN_MS)
}

/** Two orders on a series, of which the second is filled on the chain. */
async function tradeOn(venue: TestVenue, name: string): Promise<void> {
  await eventually(async () => {
    const entry = (await seriesOf(venue)).find(({ market }) => market === name)
    return entry?.trading_status === 'open' && entry.future?.band_status === 'ok'
  }, WITHIN_MS)
  const market = await registeredMarket(venue, name)
  const [maker, taker] = await openSeriesTraders(venue, market, FUNDS)
  if (maker === undefined || taker === undefined) throw new Error('no traders')
  await maker.place({ side: 'sell', price: '1540', amount: '1000' })
  const { order_id } = await taker.place({ side: 'buy', price: '1540', amount: '1000' })
  await taker.until(order_id, 'filled')
}

describe('a venue whose first series ends', function () {
  let venue: TestVenue | undefined
  afterEach(async () => {
    await venue?.stop()
    venue = undefined
  })

  it('opens and lists the third, trades it, and disables the first after its close-out, without a restart (FUT-005)', async () => {
    const ending = await prepareEndingVenue(45)
    const [first, second, third] = ending.names
    const running = (venue = await startOn(ending))
    const before = await venue.pids()
    // On a busy machine the first may have been disabled by now.
    await eventually(async () => (await namesOf(running)).includes(third), WITHIN_MS)
    await untilWell(venue)
    await tradeOn(venue, third)
    await untilListed(venue, [second, third])
    await untilWell(venue)
    const { output } = await runCommand(venue, 'market', 'list')
    expect(output).to.match(new RegExp(`^${first}: disabled`, 'm'))
    const trades = await fetch(`${venue.gatewayUrl}/v1/trades?symbol=${first}`)
    expect(trades.status).to.equal(200)
    const now = await venue.pids()
    for (const [name, pid] of Object.entries(before)) expect(now[name], name).to.equal(pid)
  })

  it('does the same when it was down over the expiry', async () => {
    const ending = await prepareEndingVenue(-30)
    const [, second, third] = ending.names
    venue = await startOn(ending)
    await untilListed(venue, [second, third])
    await untilWell(venue)
    await tradeOn(venue, third)
  })
})
