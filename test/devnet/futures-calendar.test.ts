import { expect } from 'chai'
import { rowOfNextSeries } from '../../data/series-row.js'
import {
  createCalendarKeeper,
  type CalendarKeeper,
  type CalendarVenue,
} from '../../devnet/series/keep-calendar.js'
import { isoTime } from '../../core/time.js'
import type { MarketEntry } from '../../interface/market.js'
import { ANVIL_KEY } from '../support/anvil.js'
import { ONE } from '../support/devnet-actions.js'
import type { Trader } from '../support/devnet-world.js'
import {
  ask,
  DAY,
  HOUR,
  openDatedWorld,
  openTraders,
  positionOf,
  SERIES_EXPIRY_SEC,
  type FuturesWorld,
} from '../support/futures-world.js'
import { openSeriesVenue, type SeriesVenue } from '../support/series-venue.js'

const [NOV, DEC, JAN, FEB] = ['30NOV26', '31DEC26', '31JAN27', '28FEB27'].map(
  (code) => `USDC-cNGN-${code}`,
) as [string, string, string, string]
const DEC_SEC = Date.UTC(2026, 11, 31, 14) / 1_000
const JAN_SEC = Date.UTC(2027, 0, 31, 14) / 1_000
const FUNDS = { usdc: 2_000n * ONE, cngn: 3_000_000n * ONE }
/** USDC per cNGN: a little above 1,538 cNGN per USDC. */
const PRICE = 650n * 10n ** 12n

/** The venue and its keepers, on one clock: that of the chain. */
describe('the calendar of a venue', function () {
  let world: FuturesWorld
  let venue: SeriesVenue
  let calendar: CalendarKeeper
  let alice: Trader
  let bob: Trader
  /** What the calendar's keeper has asked the operator for. */
  const asked: string[] = []

  before(async () => {
    world = await openDatedWorld(SERIES_EXPIRY_SEC - 3 * DAY, 'month-end')
    const [a, b] = await openTraders(world, [11, 12], FUNDS)
    if (a === undefined || b === undefined) throw new Error('no traders')
    ;[alice, bob] = [a, b]
    const first = rowOfNextSeries([], SERIES_EXPIRY_SEC)
    const rows = [first, rowOfNextSeries([first], DEC_SEC)]
    venue = await openSeriesVenue(world, rows, 'month-end')
    calendar = createCalendarKeeper({
      ...{ rpcUrl: world.anvil.rpcUrl, futureAsset: world.at.future_asset, ownerKey: ANVIL_KEY },
      ...{ calendar: 'month-end', venue: operated },
    })
  })
  after(async () => {
    await venue.close()
    await world.anvil.stop()
  })

  async function operate(line: string): Promise<void> {
    asked.push(line.replace(/\S*\//, ''))
    await venue.operate(line)
  }
  const known = {
    markets: () => venue.registered(),
    isEnabled: (market: string) => Promise.resolve(venue.marketOf(market).state.enabled),
  }
  const operated: CalendarVenue = {
    ...known,
    async add(expirySec) {
      const time = isoTime(expirySec * 1_000).replace('.000Z', 'Z')
      const [text = ''] = await venue.operate(`row ${time}`)
      await operate(`add ${venue.write('next.json', JSON.parse(text))}`)
    },
    disable: (market) => operate(`disable ${market} --reason over`),
  }
  const listed = async () => (await venue.listed()).map(({ market }) => market)
  const openOnChain = async () =>
    (await ask<bigint[]>(world, 'asset', 'openSeries')).map(Number).toSorted((a, b) => a - b)
  /** A block of this time, a round of the prices' keeper and one of the calendar's. */
  async function pass(timeSec: number): Promise<void> {
    await venue.pass(timeSec, PRICE)
    await calendar.keep()
    await venue.run()
  }
  async function trade(market: string, name: string): Promise<void> {
    const terms = { market, amount: '1000', price: '1538' }
    const ids = { maker: `${name}-maker`, taker: `${name}-taker` }
    const maker = { side: 'sell', key: 12, subaccountId: bob.subaccountId } as const
    const taker = { side: 'buy', key: 11, subaccountId: alice.subaccountId } as const
    expect(await venue.place({ ...terms, ...maker, orderId: ids.maker })).to.equal(undefined)
    expect(await venue.place({ ...terms, ...taker, orderId: ids.taker })).to.equal(undefined)
    expect(await venue.shown(ids.taker)).to.include({ market, status: 'filled' })
  }

  it('begins with two series, which it leaves alone while they trade', async () => {
    await pass(SERIES_EXPIRY_SEC - 2 * DAY)
    expect(await listed()).to.have.members([NOV, DEC])
    expect(await openOnChain()).to.deep.equal([SERIES_EXPIRY_SEC, DEC_SEC])
    expect(asked).to.deep.equal([])
    expect((await venue.operate('list')).at(-1)).to.equal(
      `next series: ${JAN}, not listed yet; due in 1 days, at 2026-11-30T13:00Z`,
    )
    await trade(NOV, 'nov')
    expect(await positionOf(world, alice.subaccountId)).to.equal(ONE)
  })

  it('opens and lists the third when the first stops trading', async () => {
    await pass(SERIES_EXPIRY_SEC - HOUR)
    expect(await openOnChain()).to.deep.equal([SERIES_EXPIRY_SEC, DEC_SEC, JAN_SEC])
    expect(await listed()).to.have.members([NOV, DEC, JAN])
    expect(asked).to.deep.equal(['add next.json'])
    expect(endedIn(await venue.listed())).to.deep.equal([NOV])
    await pass(SERIES_EXPIRY_SEC - HOUR + 60)
    expect(asked).to.have.length(1)
  })

  it('disables the first once it is settled, closed out and retired, and its history stays', async () => {
    for (let left = HOUR - 240; left > 0; left -= 240) await pass(SERIES_EXPIRY_SEC - left)
    for (const afterSec of [60, 120]) await pass(SERIES_EXPIRY_SEC + afterSec)
    expect(await positionOf(world, alice.subaccountId)).to.equal(0n)
    expect(await openOnChain()).to.deep.equal([DEC_SEC, JAN_SEC])
    expect(asked.slice(1)).to.deep.equal([`disable ${NOV} --reason over`])
    expect(await listed()).to.have.members([DEC, JAN])
    const { json } = await venue.get(`/v1/trades?symbol=${NOV}`)
    expect(json.trades).to.have.length(1)
    await pass(SERIES_EXPIRY_SEC + 180)
    expect(asked).to.have.length(2)
  })

  it('has orders of the third settled', async () => {
    await trade(JAN, 'jan')
    expect(await positionOf(world, alice.subaccountId, BigInt(JAN_SEC))).to.equal(ONE)
  })

  it('catches up on a venue that was down over an expiry: the owner settles a day later', async () => {
    await trade(DEC, 'dec')
    // The venue's own rounds and its operator go on while the keepers are down.
    await venue.pass(DEC_SEC + HOUR, PRICE)
    expect((await venue.operate('list')).at(-1)).to.equal(
      `next series: ${FEB}, not listed yet; due since 2026-12-31T13:00Z`,
    )
    await pass(DEC_SEC + 2 * HOUR)
    expect(await listed()).to.have.members([DEC, JAN, FEB])
    expect((await known.markets()).map(({ market }) => market)).to.deep.equal([NOV, DEC, JAN, FEB])
    expect(endedIn(await venue.listed())).to.deep.equal([DEC])
    await pass(DEC_SEC + DAY - 60)
    const state = async () => (await ask<readonly unknown[]>(world, 'asset', 'series', DEC_SEC))[3]
    expect(await state()).to.equal(0n)
    await pass(DEC_SEC + DAY)
    // Without a sample it is the last mark.
    const mark = (await ask<readonly unknown[]>(world, 'asset', 'series', DEC_SEC))[1]
    expect(await state()).to.equal(mark)
    for (const laterSec of [60, 120, 180]) await pass(DEC_SEC + DAY + laterSec)
    expect(await positionOf(world, alice.subaccountId, BigInt(DEC_SEC))).to.equal(0n)
    expect(await listed()).to.have.members([JAN, FEB])
    await trade(FEB, 'feb')
  })

  it('disables a row whose series the chain never had, and lists nothing where no series was', async () => {
    const OLD_SEC = Date.UTC(2026, 9, 31, 14) / 1_000
    await venue.operate(`add ${venue.write('old.json', [rowOfNextSeries([], OLD_SEC)])}`)
    expect(await listed()).to.include('USDC-cNGN-31OCT26')
    await calendar.keep()
    expect(await listed()).to.have.members([JAN, FEB])
    const never = { ...known, markets: () => Promise.resolve([]), add: failing, disable: failing }
    const options = { rpcUrl: world.anvil.rpcUrl, futureAsset: world.at.future_asset }
    const other = { ...options, ownerKey: ANVIL_KEY, calendar: [DEC_SEC + 400 * DAY], venue: never }
    const before = await openOnChain()
    await createCalendarKeeper(other).keep()
    expect(await openOnChain()).to.deep.equal(before)
  })

  it('goes on with what is due when a step fails, and does what failed in its next round', async () => {
    const dates = [2, 3].map((month) => Date.UTC(2027, month + 1, 0, 14) / 1_000)
    const options = { rpcUrl: world.anvil.rpcUrl, futureAsset: world.at.future_asset }
    const keeper = (of: CalendarVenue) =>
      createCalendarKeeper({ ...options, ownerKey: ANVIL_KEY, calendar: dates, venue: of })
    const broken = keeper({ ...known, add: failing, disable: failing })
    const error: unknown = await broken.keep().catch((it: unknown) => it)
    expect((error as Error).message).to.equal('no operator')
    expect(await openOnChain()).to.include.members(dates)
    expect(await listed()).to.have.members([JAN, FEB])
    await keeper(operated).keep()
    expect(await listed()).to.have.members([JAN, FEB, 'USDC-cNGN-31MAR27', 'USDC-cNGN-30APR27'])
  })

  it('opens none beside one of the same day, whose name it would have', async () => {
    const calendar = [Date.UTC(2027, 2, 31, 10) / 1_000]
    const options = { rpcUrl: world.anvil.rpcUrl, futureAsset: world.at.future_asset }
    const venue = { ...known, add: failing, disable: failing }
    const before = await openOnChain()
    await createCalendarKeeper({ ...options, ownerKey: ANVIL_KEY, calendar, venue }).keep()
    expect(await openOnChain()).to.deep.equal(before)
  })
})

const failing = (): Promise<never> => Promise.reject(new Error('no operator'))

/** The series that trade no more, while all others do. */
function endedIn(markets: readonly MarketEntry[]): string[] {
  const ended = markets.filter(({ trading_status: status }) => status !== 'open')
  for (const each of ended)
    expect(each).to.include({ trading_status: 'held', trading_status_reason: 'trading_ended' })
  return ended.map(({ market }) => market)
}
