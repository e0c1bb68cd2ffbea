import { expect } from 'chai'
import { rowOfNextSeries } from '../../data/series-row.js'
import {
  createListing,
  type SeriesListing,
  type SeriesOrders,
} from '../../actors/keeper/list-series.js'
import { OperatorOrderRefused } from '../../actors/market-orders/order-refused.js'
import { createChainClient } from '../../chain/reads/client.js'
import { createSeries } from '../../devnet/series/next-series.js'
import { settleByFallback } from '../../devnet/series/settle-by-fallback.js'
import { JOBS } from '../../core/contracts/upkeep.js'
import type { Market } from '../../core/model/market.js'
import { isoTime } from '../../core/time.js'
import type { MarketEntry } from '../../interface/market.js'
import { StreamMissing } from '../../runtime/bus/bus.js'
import { ANVIL_KEY } from '../support/anvil.js'
import { ONE } from '../support/devnet-actions.js'
import type { Trader } from '../support/devnet-world.js'
import {
  act,
  ask,
  DAY,
  HOUR,
  KEEPER,
  openDatedWorld,
  openTraders,
  positionOf,
  SERIES_EXPIRY_SEC,
  setIndex,
  warpTo,
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
  let listing: SeriesListing
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
    await act(world, world.at.deployer, 'asset', 'setSeriesCreator', KEEPER)
    listing = listingOf({})
  })
  after(async () => {
    await venue.close()
    await world.anvil.stop()
  })

  async function operate(line: string): Promise<void> {
    asked.push(line.replace(/\S*\//, ''))
    await venue.operate(line)
  }
  const orders: SeriesOrders = {
    async list(_, expirySec) {
      const time = isoTime(expirySec * 1_000).replace('.000Z', 'Z')
      const [text = ''] = await venue.operate(`row ${time}`)
      await operate(`add ${venue.write('next.json', JSON.parse(text))}`)
    },
    async disable(market) {
      if (venue.marketOf(market).state.enabled) await operate(`disable ${market} --reason over`)
    },
  }
  /** What the keeper lists, with these of its parts. */
  const listingOf = (parts: Partial<Parameters<typeof createListing>[0]>): SeriesListing => {
    const client = createChainClient(world.anvil.rpcUrl, 'read')
    const deployment = { matching: world.at.matching, subAccounts: world.at.sub_accounts }
    return createListing({
      client,
      deployment,
      markets: () => registered,
      calendar: 'month-end',
      keeper: KEEPER,
      orders,
      facts: { unreadable: () => undefined },
      ...parts,
    })
  }
  let registered: readonly Market[] = []
  const listed = async () => (await venue.listed()).map(({ market }) => market)
  const openOnChain = async () =>
    (await ask<bigint[]>(world, 'asset', 'openSeries')).map(Number).toSorted((a, b) => a - b)
  /** A block of this time, a round of the prices' keeper and one of the calendar's. */
  async function pass(timeSec: number): Promise<void> {
    await venue.pass(timeSec, PRICE)
    await list(listing)
    await venue.run()
  }
  /** As often as a series that was opened becomes listed. */
  async function list(of: SeriesListing): Promise<void> {
    registered = await venue.registered()
    await of.round()
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
    expect((await venue.registered()).map(({ market }) => market)).to.deep.equal([
      NOV,
      DEC,
      JAN,
      FEB,
    ])
    expect(endedIn(await venue.listed())).to.deep.equal([DEC])
    await pass(DEC_SEC + DAY - 60)
    const state = async () => (await ask<readonly unknown[]>(world, 'asset', 'series', DEC_SEC))[3]
    expect(await state()).to.equal(0n)
    await pass(DEC_SEC + DAY)
    expect(await state()).to.equal(0n)
    const sender = { rpcUrl: world.anvil.rpcUrl, privateKey: ANVIL_KEY }
    await settleByFallback(sender, world.at.future_asset, BigInt(DEC_SEC))
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
    await list(listing)
    expect(await listed()).to.have.members([JAN, FEB])
  })

  it('goes on with what is due when a step fails, says since when, and does it in a later round', async () => {
    const dates = [2, 3].map((month) => Date.UTC(2027, month + 1, 0, 14) / 1_000)
    const sender = { rpcUrl: world.anvil.rpcUrl, privateKey: ANVIL_KEY }
    for (const date of dates) await createSeries(sender, world.at.future_asset, date)
    const tried: number[] = []
    const failing: SeriesOrders = {
      list(_, expirySec) {
        tried.push(expirySec)
        const unanswered = new OperatorOrderRefused('the order intake does not answer')
        const missing = new StreamMissing('no stream of the register')
        return Promise.reject(expirySec === dates[0] ? unanswered : missing)
      },
      disable: orders.disable,
    }
    const broken = listingOf({ calendar: dates, orders: failing })
    await list(broken)
    expect(tried).to.deep.equal(dates)
    expect(broken.late()).to.deep.equal([])
    await warpTo(world, venue.nowSec() + JOBS.listing + 60)
    await list(broken)
    expect(broken.late()).to.have.length(1)
    expect(broken.late()[0]).to.include({
      job: 'listing',
      why: 'the order intake does not answer',
    })
    expect(await listed()).to.have.members([JAN, FEB])
    await list(listingOf({ calendar: dates }))
    await venue.run()
    expect(await listed()).to.have.members([JAN, FEB, 'USDC-cNGN-31MAR27', 'USDC-cNGN-30APR27'])
  })

  it('lists nothing where another key opens the series', async () => {
    const { deployer } = world.at
    await act(world, deployer, 'asset', 'setSeriesCreator', deployer)
    const asked: string[] = []
    const other = Date.UTC(2027, 4, 31, 14) / 1_000
    await setIndex(world, 1_538n * ONE)
    await act(world, deployer, 'asset', 'createSeries', other)
    const note = (what: string) => Promise.resolve(void asked.push(what))
    await list(
      listingOf({
        calendar: [other],
        orders: { list: () => note('list'), disable: () => note('disable') },
      }),
    )
    expect(asked).to.deep.equal([])
  })
})

/** The series that trade no more, while all others do. */
function endedIn(markets: readonly MarketEntry[]): string[] {
  const ended = markets.filter(({ trading_status: status }) => status !== 'open')
  for (const each of ended)
    expect(each).to.include({ trading_status: 'held', trading_status_reason: 'trading_ended' })
  return ended.map(({ market }) => market)
}
