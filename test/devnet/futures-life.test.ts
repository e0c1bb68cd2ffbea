import { expect } from 'chai'
import { readFutureMargin, readFuturePosition } from '../../client/index.js'
import { revertName } from '../../chain/abi/errors.js'
import { formatDecimal } from '../../core/decimal.js'
import { rowOfNextSeries } from '../../data/series-row.js'
import { createSeries, NoNextSeries } from '../../devnet/series/next-series.js'
import { ANVIL_KEY } from '../support/anvil.js'
import { ONE } from '../support/devnet-actions.js'
import { balanceOf, revertOf, type Trader } from '../support/devnet-world.js'
import { argsOf } from '../support/event-args.js'
import {
  act,
  ask,
  DAY,
  fillCall,
  HOUR,
  KEEPER,
  openDatedWorld,
  openTraders,
  positionOf,
  type FuturesWorld,
} from '../support/futures-world.js'
import { seriesRow } from '../support/series-rows.js'
import { openSeriesVenue, type SeriesVenue } from '../support/series-venue.js'

const START_SEC = Date.UTC(2026, 10, 10) / 1_000
const EXPIRY_SEC = Date.UTC(2026, 10, 30, 14) / 1_000
const NEXT_SEC = Date.UTC(2026, 11, 31, 14) / 1_000
const OLD = 'USDC-cNGN-30NOV26'
const NEXT = 'USDC-cNGN-31DEC26'
const FUNDS = { usdc: 2_000n * ONE, cngn: 3_000_000n * ONE }

type Json = Record<string, unknown>
interface ClosedArgs {
  readonly account: bigint
  readonly vm: bigint
}

describe('a series from its listing to its history', function () {
  let world: FuturesWorld
  let venue: SeriesVenue
  let alice: Trader
  let bob: Trader
  let carol: Trader
  let dave: Trader
  /** The newest index that the keeper has published. */
  let index = 0n

  before(async () => {
    world = await openDatedWorld(START_SEC)
    const [a, b, c, d] = await openTraders(world, [11, 12, 13, 14], FUNDS)
    if (a === undefined || b === undefined || c === undefined || d === undefined)
      throw new Error('no traders')
    ;[alice, bob, carol, dave] = [a, b, c, d]
    venue = await openSeriesVenue(world, [])
  })
  after(async () => {
    await venue.close()
    await world.anvil.stop()
  })

  async function pass(timeSec: number, usdcPerCngn: bigint): Promise<void> {
    await venue.pass(timeSec, usdcPerCngn)
    ;[index = 0n] = await ask<readonly bigint[]>(world, 'asset', 'band', world.subId)
  }
  const at = (beforeExpirySec: number): number => EXPIRY_SEC - beforeExpirySec
  /** USDC per cNGN of 1,600 and 1,562.5 cNGN per USDC, and of a little above 1,538. */
  const [AT_1600, AT_1562, AT_1538] = [625n, 640n, 650n].map((n) => n * 10n ** 12n) as [
    bigint,
    bigint,
    bigint,
  ]

  const place = (
    { account, subaccountId }: Trader,
    ...[orderId, side, amount, price, market = OLD]: readonly [
      orderId: string,
      side: 'buy' | 'sell',
      amount: string,
      price: string,
      market?: string,
    ]
  ) => {
    const key = [alice, bob, carol, dave].findIndex((each) => each.account === account) + 11
    return venue.place({ market, orderId, side, amount, price, key, subaccountId })
  }
  const refusalOf = async (price: bigint): Promise<string> => {
    const fill = { taker: alice, maker: bob, amount: ONE, price }
    const data = await revertOf(world, await fillCall(world, fill))
    return data === 'none' ? 'success' : revertName(data)
  }
  const markOf = async (subId = world.subId) =>
    (await ask<readonly bigint[]>(world, 'asset', 'series', subId))[1] ?? 0n

  it('is listed by a row that is registered, with what the chain shows', async () => {
    await pass(START_SEC + 2 * HOUR, AT_1600)
    expect(
      await venue.operate(`add ${venue.write('old.json', [seriesRow(OLD, 2, world.subId)])}`),
    ).to.have.length(1)
    await venue.run()
    const [entry] = await venue.listed()
    expect(entry).to.include({ market: OLD, expiry_timestamp: EXPIRY_SEC, trading_status: 'open' })
    expect(entry?.future).to.include({
      index_price: '1600',
      mark_price: '1600',
      band_width: '0.1',
      band_status: 'ok',
      fill_band_low: '1440',
      fill_band_high: '1760',
      last_trade_time: at(HOUR),
    })
  })

  it('trades, at the price of the order that rested', async () => {
    expect(await place(bob, 'maker', 'sell', '3000', '1590')).to.equal(undefined)
    expect(await place(alice, 'taker', 'buy', '2000', '1600')).to.equal(undefined)
    expect(await venue.shown('taker')).to.include({ status: 'filled', filled_amount: '2000' })
    expect(await venue.shown('maker')).to.include({ status: 'active', filled_amount: '2000' })
    expect(await positionOf(world, alice.subaccountId)).to.equal(2n * ONE)
    const bought = (await venue.fills(11))[0]
    const sold = (await venue.fills(12))[0]
    expect(bought).to.include({ price: '1590', size: '2000', fee: '5', mark_price: '1600' })
    expect([bought?.vm_cngn, sold?.vm_cngn]).to.deep.equal(['20000', '-20000'])
    // 2 × 1,000 × (1600 − 1590): a claim until the pool pays it, for the taker was touched before the payer.
    expect(await cngnOf(bob)).to.equal(FUNDS.cngn - 20_000n * ONE)
    expect(await ask<bigint>(world, 'manager', 'variation', alice.subaccountId)).to.equal(
      20_000n * ONE,
    )
  })

  it('shows its positions on chain, by the two calls of the client', async () => {
    const [entry] = await venue.listed()
    if (entry === undefined) throw new Error('no market')
    const read = (of: Trader) =>
      Promise.all([
        readFuturePosition(
          world.client,
          { market: entry, subaccountId: of.subaccountId },
          world.at.sub_accounts,
        ),
        readFutureMargin(world.client, { market: entry, subaccountId: of.subaccountId }, 'initial'),
        readFutureMargin(
          world.client,
          { market: entry, subaccountId: of.subaccountId },
          'maintenance',
        ),
      ])
    // 1,995 USDC, and 3,020,000 cNGN at 1600 count 0.9 and 0.95 times; 2,000 USDC of notional need 10 and 7 %.
    expect(await read(alice)).to.deep.equal([
      2n * ONE,
      (1_995n - 200n) * ONE + (188_750n * 9n * ONE) / 1_000n,
      (1_995n - 140n) * ONE + (188_750n * 95n * ONE) / 10_000n,
    ])
    expect((await read(bob))[0]).to.equal(-2n * ONE)
  })

  it('is marked towards the index, an hour after the last mark at the earliest', async () => {
    await pass(START_SEC + 3 * HOUR + 600, AT_1562)
    expect(await markOf()).to.equal((3_125n * ONE) / 2n)
    await pass(START_SEC + 3 * HOUR + 660, AT_1538)
    expect(await markOf()).to.equal((3_125n * ONE) / 2n)
    await pass(START_SEC + 5 * HOUR, AT_1600)
    expect(await markOf()).to.equal(1_600n * ONE)
    expect((await venue.listed())[0]?.future).to.include({ mark_price: '1600' })
  })

  it('passes over an order that the narrowing band has left, and fills it once the index returns (FUT-014)', async () => {
    expect(await place(bob, 'low', 'sell', '1000', '1480')).to.equal(undefined)
    // The width is 5.5 %: from 1512 to 1688.
    await pass(at(7 * DAY), AT_1600)
    expect(await place(alice, 'far', 'buy', '1000', '1700')).to.equal('outside_fill_band')
    expect(await place(alice, 'second', 'buy', '1000', '1600')).to.equal(undefined)
    expect(await venue.shown('maker')).to.include({ status: 'filled' })
    expect(await place(alice, 'patient', 'buy', '1000', '1600')).to.equal(undefined)
    for (const orderId of ['low', 'patient'])
      expect(await venue.shown(orderId)).to.include({ status: 'active', filled_amount: '0' })
    expect(venue.marketOf(OLD).state.matches.size).to.equal(0)
    const { json: book } = await venue.get(`/v1/book?symbol=${OLD}`)
    expect(JSON.stringify(book)).to.include('1480').and.to.include('1600')
    expect(await refusalOf(1_480n * ONE)).to.equal('FT_OutsideFillBand')

    await pass(at(7 * DAY - HOUR), AT_1538)
    for (const orderId of ['low', 'patient'])
      expect(await venue.shown(orderId)).to.include({ status: 'filled', filled_amount: '1000' })
    expect(await positionOf(world, bob.subaccountId)).to.equal(-4n * ONE)
  })

  it('is joined by the next series, which trades beside it', async () => {
    await pass(at(3 * DAY), AT_1538)
    const owner = { rpcUrl: world.anvil.rpcUrl, privateKey: ANVIL_KEY }
    await createSeries(owner, world.at.future_asset, NEXT_SEC)
    const again = createSeries(owner, world.at.future_asset, NEXT_SEC)
    expect(await again.catch((error: unknown) => error)).to.be.instanceOf(NoNextSeries)
    const misnamed = venue.write('misnamed.json', [seriesRow(OLD, 3, BigInt(NEXT_SEC))])
    const refused = await venue.operate(`add ${misnamed}`).catch((error: unknown) => error)
    expect((refused as Error).message).to.match(/must end with -31DEC26$/)
    const row = rowOfNextSeries([seriesRow(OLD, 2, world.subId)], NEXT_SEC)
    expect(row).to.include({ market: NEXT, ordinal: undefined, sub_id: `${NEXT_SEC}` })
    expect(row.presentation).to.include({ display_name: NEXT })
    const file = venue.write('next.json', [row])
    expect((await venue.operate(`add ${file}`))[0]).to.match(/^USDC-cNGN-31DEC26: enabled, /)
    await venue.run()
    expect(await place(carol, 'next-maker', 'sell', '1000', '1540', NEXT)).to.equal(undefined)
    expect(await place(dave, 'next-taker', 'buy', '1000', '1540', NEXT)).to.equal(undefined)
    expect(await venue.shown('next-taker')).to.include({ status: 'filled', market: NEXT })
    expect(await positionOf(world, dave.subaccountId, BigInt(NEXT_SEC))).to.equal(ONE)
    expect((await venue.listed()).map(({ market }) => market)).to.deep.equal([OLD, NEXT])
  })

  it('ends its orders at the last trade time, and takes no more (FUT-003, FUT-004)', async () => {
    expect(await place(bob, 'late', 'buy', '1000', '1510')).to.equal(undefined)
    // The band is 1.03 % wide by then: the order is out of reach, and still there.
    await pass(at(HOUR + 60), AT_1538)
    expect(await venue.shown('late')).to.include({ status: 'active' })
    await pass(at(HOUR), AT_1538)
    expect(await venue.shown('late')).to.include({ status: 'expired' })
    expect(await place(alice, 'too-late', 'buy', '1000', '1538')).to.equal('trading_ended')
    expect(await refusalOf(index)).to.equal('FT_TradingEnded')
    expect((await venue.listed())[0]).to.include({ trading_status_reason: 'trading_ended' })
  })

  it('is fixed, settled and closed out by the keeper, to the last unit (FUT-034, FUT-037)', async () => {
    const samples = [{ price: index, atSec: at(HOUR) }]
    for (let left = HOUR - 240; left > 0; left -= 240) {
      await pass(at(left), left % 480 === 0 ? AT_1562 : AT_1538)
      samples.push({ price: index, atSec: at(left) })
    }
    await pass(at(-60), AT_1600)
    const priceSeconds = samples.reduce((sum, { price, atSec }, i) => {
      const untilSec = samples[i + 1]?.atSec ?? EXPIRY_SEC
      return sum + price * BigInt(untilSec - atSec)
    }, 0n)
    const settled = await ask<readonly bigint[]>(world, 'asset', 'series', world.subId)
    expect(settled[3]).to.equal(priceSeconds / 3_600n)
    await pass(at(-120), AT_1600)
    for (const { subaccountId } of [alice, bob])
      expect(await positionOf(world, subaccountId)).to.equal(0n)
    expect(await ask<bigint[]>(world, 'asset', 'openSeries')).to.deep.equal([BigInt(NEXT_SEC)])

    const everyone = [alice, bob, carol, dave].map(({ subaccountId }) => subaccountId)
    await act(world, KEEPER, 'manager', 'settleVariation', everyone)
    const price = priceSeconds / 3_600n
    // Three contracts at 1590 and one at 1480; the fee is 2.5 USDC a contract.
    const gain = 3_000n * (price - 1_590n * ONE) + 1_000n * (price - 1_480n * ONE)
    expect(await cngnOf(alice)).to.equal(FUNDS.cngn + gain)
    expect(await cngnOf(bob)).to.equal(FUNDS.cngn - gain)
    const usdc = (trader: Trader) => balanceOf(world, trader.subaccountId, world.at.wrapped_usdc)
    expect([await usdc(alice), await usdc(bob)]).to.deep.equal([FUNDS.usdc - 10n * ONE, FUNDS.usdc])
    for (const id of everyone)
      expect(await ask<bigint>(world, 'manager', 'variation', id)).to.equal(0n)
    expect(await ask<bigint>(world, 'manager', 'pool')).to.equal(0n)
  })

  it('tells each owner at which price it was closed out, and what was paid last (FUT-051, FUT-052)', async () => {
    const price = (await ask<readonly bigint[]>(world, 'asset', 'series', world.subId))[3] ?? 0n
    const old = (await venue.listed()).find(({ market }) => market === OLD)
    const settlement_price = formatDecimal(price, 18)
    expect(old?.future).to.deep.include({ settlement_price, mark_price: settlement_price })
    const next = (await venue.listed()).find(({ market }) => market === NEXT)
    expect(next?.future).to.not.have.property('settlement_price')
    const { abi } = world.artifacts.FuturesManager
    const events = await world.client.getContractEvents({
      address: world.at.futures_manager,
      abi,
      eventName: 'PositionClosed',
      fromBlock: 0n,
    })
    for (const [key, { subaccountId }, position] of [
      [11, alice, '4000'],
      [12, bob, '-4000'],
    ] as const) {
      const event = events.find((each) => (argsOf(each) as ClosedArgs).account === subaccountId)
      const vm = (argsOf(event) as ClosedArgs | undefined)?.vm
      const { timestamp } = await world.client.getBlock({ blockNumber: event?.blockNumber ?? 0n })
      const [closed, ...more] = await venue.closeOuts(key)
      expect(more).to.deep.equal([])
      expect(closed).to.deep.include({
        market: OLD,
        subaccount_id: `${subaccountId}`,
        position,
        settlement_price,
        vm_cngn: formatDecimal(vm ?? 0n, 18),
        sub_id: `${world.subId}`,
      })
      expect(vm).to.not.equal(undefined)
      expect(closed).to.deep.include({
        closed_at: new Date(Number(timestamp) * 1_000).toISOString(),
        block_number: Number(event?.blockNumber),
        tx_hash: event?.transactionHash,
      })
    }
    expect(await venue.closeOuts(13)).to.deep.equal([])
  })

  it('leaves the list once it is disabled, keeps its history, and the next one goes on (FUT-006)', async () => {
    const [line] = await venue.operate(`disable ${OLD} --reason settled`)
    expect(line).to.match(/^USDC-cNGN-30NOV26: disabled, /)
    expect((await venue.listed()).map(({ market }) => market)).to.deep.equal([NEXT])
    const { json: trades } = await venue.get(`/v1/trades?symbol=${OLD}`)
    expect((trades.trades as Json[]).map(({ price, size }) => [price, size])).to.deep.equal([
      ['1480', '1000'],
      ['1590', '1000'],
      ['1590', '2000'],
    ])
    const { status } = await venue.get(`/v1/candles?symbol=${OLD}&interval=1d`)
    expect(status).to.equal(200)
    expect(await venue.shown('patient')).to.include({ market: OLD, status: 'filled' })
    expect(await place(alice, 'no-more', 'buy', '1000', '1600')).to.equal('market_disabled')
    expect(await place(alice, 'next', 'buy', '1000', '1500', NEXT)).to.equal(undefined)
    expect(await venue.shown('next')).to.include({ market: NEXT, status: 'active' })
  })

  const cngnOf = ({ subaccountId }: Trader) => balanceOf(world, subaccountId, world.at.wrapped_cngn)
})
