import { expect } from 'chai'
import { createPublicClient, http, parseAbi } from 'viem'
import type { Devnet } from '../support/venue.js'
import {
  e18,
  MARKET,
  nowSec,
  traderOf,
  until,
  type BlackBoxTrader,
  type TradesJson,
} from './black-box/client.js'
import { expectError, expectShape, TRADE } from './black-box/shapes.js'
import { sharedVenue } from './stage/shared-venue.js'

const ACCOUNTS = parseAbi(['function getBalance(uint256, address, uint256) view returns (int256)'])

describe('a trader trades', function () {
  let devnet: Devnet
  let ann: BlackBoxTrader
  let bob: BlackBoxTrader
  before(async function () {
    ;({ devnet } = await sharedVenue())
    ann = traderOf(devnet, 2)
    bob = traderOf(devnet, 3)
  })
  after(async () => {
    const { bids, asks } = await ann.book()
    const left = [...bids, ...asks].filter((it) =>
      [ann.address, bob.address].includes(it.owner_address),
    )
    expect(left).to.deep.equal([])
  })

  const chain = () => createPublicClient({ transport: http(devnet.rpc_url) })
  const balance = (account: string, asset: `0x${string}`) =>
    chain().readContract({
      address: devnet.sub_accounts,
      abi: ACCOUNTS,
      functionName: 'getBalance',
      args: [BigInt(account), asset, 0n],
    })
  /** USDC and cNGN of ann, bob and the fee account. */
  const holdings = () =>
    Promise.all(
      [ann.subaccountId, bob.subaccountId, devnet.spot_fee_subaccount_id].map((account) =>
        Promise.all([balance(account, devnet.wrapped_usdc), balance(account, devnet.wrapped_cngn)]),
      ),
    )
  const moved = (before: bigint[][], after: bigint[][]) =>
    after.map((row, i) => row.map((it, j) => it - (before[i]?.[j] ?? 0n)))
  const tradeOf = async (takerOrderId: string) => {
    const { trades } = await ann.trades()
    return trades.filter((it) => it.taker_order_id === takerOrderId)
  }

  it('at the maker’s price; the chain moves exactly that, and the taker alone pays 25 bps (MAT-004, MON-016)', async () => {
    const before = await holdings()
    const maker = await ann.place({ side: 'sell', price: '0.0031234567', amount: '987.654321' })
    const taker = await bob.place({ side: 'buy', price: '0.0032', amount: '987.654321' })
    expect(taker.status).to.equal('matching')
    expectShape(taker, { filled_amount: '0', pending_amount: '987.654321', open_amount: '0' })
    await bob.orderWith(taker.order_id, 'filled')
    await ann.orderWith(maker.order_id, 'filled')
    const quote = (e18('0.0031234567') * e18('987.654321')) / 10n ** 18n
    const fee = (quote * 25n) / 10_000n
    expect(moved(before, await holdings())).to.deep.equal([
      [quote, -e18('987.654321')],
      [-quote - fee, e18('987.654321')],
      [fee, 0n],
    ])
    const [trade] = await tradeOf(taker.order_id)
    expectShape(trade, {
      ...TRADE,
      price: '0.0031234567',
      size: '987.654321',
      aggressor_side: 'buy',
      maker_order_id: maker.order_id,
    })
  })

  it('as the later order, whichever side it is on (MAT-005)', async () => {
    const before = await holdings()
    const maker = await ann.place({ side: 'buy', price: '0.0034', amount: '500' })
    const taker = await bob.place({ side: 'sell', price: '0.0033', amount: '500' })
    await bob.orderWith(taker.order_id, 'filled')
    await ann.orderWith(maker.order_id, 'filled')
    const quote = e18('1.7')
    const fee = (quote * 25n) / 10_000n
    expect(moved(before, await holdings())).to.deep.equal([
      [-quote, e18('500')],
      [quote - fee, -e18('500')],
      [fee, 0n],
    ])
    const [trade] = await tradeOf(taker.order_id)
    expect(trade).to.include({ aggressor_side: 'sell', price: '0.0034' })
  })

  it('and finds the trade in trader terms, with the transaction that settled it', async () => {
    const maker = await ann.place({ side: 'sell', price: '0.004', amount: '250' })
    const taker = await bob.place({ side: 'buy', price: '0.004', amount: '250' })
    await bob.orderWith(taker.order_id, 'filled')
    await ann.orderWith(maker.order_id, 'filled')
    const [trade] = await tradeOf(taker.order_id)
    expect(trade?.spot_contract).to.deep.equal({
      spec: 'cngn_usdc_spot_v1',
      ui_intent: { side: 'sell', price: '250', size: '1' },
      engine_order: { side: 'buy', price: '0.004', amount: '250' },
      balance_delta: { usdc: '-1', cngn: '+250' },
    })
    const hash = trade?.tx_hash as `0x${string}`
    const receipt = await chain().getTransactionReceipt({ hash })
    expect(receipt.status).to.equal('success')
    expect(receipt.to?.toLowerCase()).to.equal(devnet.batch_executor)
  })

  it('in parts: the best price first, then the earlier order', async () => {
    const sell = (price: string, amount: string) => ann.place({ side: 'sell', price, amount })
    const third = await sell('0.0046', '100')
    const first = await sell('0.0045', '10')
    const second = await sell('0.0045', '20')
    const taker = await bob.place({ side: 'buy', price: '0.0046', amount: '60' })
    await bob.orderWith(taker.order_id, 'filled')
    const rest = await until(
      () => ann.order(third.order_id),
      (it) => it.filled_amount === '30',
    )
    expectShape(rest, { status: 'active', open_amount: '70', remaining_amount: '70' })
    const trades = (await tradeOf(taker.order_id)).reverse()
    expect(trades.map((it) => [it.maker_order_id, it.price, it.size])).to.deep.equal([
      [first.order_id, '0.0045', '10'],
      [second.order_id, '0.0045', '20'],
      [third.order_id, '0.0046', '30'],
    ])
    const cancelled = await ann.cancel(third)
    expectShape(cancelled.body.order, { status: 'cancelled', filled_amount: '30' })
    expect((await ann.order(third.order_id)).filled_amount).to.equal('30')
  })

  it('and rests what is left of a taker, at its own price (MAT-006)', async () => {
    const maker = await ann.place({ side: 'sell', price: '0.0047', amount: '10' })
    const taker = await bob.place({ side: 'buy', price: '0.0048', amount: '30' })
    expectShape(taker, { status: 'active', pending_amount: '10', open_amount: '20' })
    const { bids } = await bob.book()
    const shown = bids.find((it) => it.order_id === taker.order_id)
    expectShape(shown, { limit_price: '0.0048', open_amount: '20' })
    await ann.orderWith(maker.order_id, 'filled')
    await until(
      () => bob.order(taker.order_id),
      (it) => it.filled_amount === '10',
    )
    await bob.cancel(taker)
  })

  it('and cannot cancel what is matched already (CAN-004)', async () => {
    const maker = await ann.place({ side: 'sell', price: '0.0049', amount: '10' })
    const taker = await bob.place({ side: 'buy', price: '0.0049', amount: '10' })
    if (taker.status === 'matching')
      expectError(await bob.cancel(taker), 404, 'active order not found')
    await bob.orderWith(taker.order_id, 'filled')
    await ann.orderWith(maker.order_id, 'filled')
    expectError(await bob.cancel(taker), 404, 'active order not found')
    expectError(await ann.cancel(maker), 404, 'active order not found')
  })

  it('never with itself: the incoming rest is cancelled, the resting order stays (MAT-015)', async () => {
    const resting = await ann.place({ side: 'sell', price: '0.0051', amount: '10' })
    const incoming = await ann.place({ side: 'buy', price: '0.0051', amount: '10' })
    expectShape(incoming, { status: 'cancelled', cancel_reason: 'self_trade', open_amount: '0' })
    expect((await ann.order(resting.order_id)).status).to.equal('active')
    await ann.cancel(resting)
  })

  it('never above the fee that it signed: the taker’s rest is cancelled, the maker stays (MAT-021)', async () => {
    const maker = await ann.place({ side: 'sell', price: '0.0052', amount: '10', worstFee: 0n })
    const taker = await bob.place({ side: 'buy', price: '0.0052', amount: '10', worstFee: 0n })
    expectShape(taker, { status: 'cancelled', cancel_reason: 'fee_bound_too_low' })
    expect((await ann.order(maker.order_id)).status).to.equal('active')
    const paying = await bob.place({ side: 'buy', price: '0.0052', amount: '10' })
    await bob.orderWith(paying.order_id, 'filled')
    await ann.orderWith(maker.order_id, 'filled')
  })

  it('not after expiry, and no longer in the last ten seconds before it', async () => {
    const maker = await ann.place({
      side: 'sell',
      price: '0.0053',
      amount: '10',
      expiry: nowSec() + 12,
    })
    expect(maker.status).to.equal('active')
    await until(
      () => ann.book(),
      ({ asks }) => !asks.some((it) => it.order_id === maker.order_id),
    )
    const late = await bob.place({ side: 'buy', price: '0.0053', amount: '10' })
    expectShape(late, { status: 'active', open_amount: '10' })
    const expired = await ann.orderWith(maker.order_id, 'expired')
    expectShape(expired, { filled_amount: '0', open_amount: '0' })
    expect(nowSec()).to.be.at.least(maker.expiry as number)
    expectError(await ann.cancel(maker), 404, 'active order not found')
    await bob.cancel(late)
  })

  it('under trade ids that rise and are never given twice (REA-014)', async () => {
    const { trades } = await ann.trades()
    const ids = trades.map(({ trade_id }) => trade_id)
    expect(ids.length).to.be.greaterThan(5)
    expect(new Set(ids).size).to.equal(ids.length)
    expect(ids).to.deep.equal([...ids].sort((a, b) => b - a))
    expect(Math.min(...ids)).to.be.greaterThan(0)
  })

  it('and the 24-hour stats are what the trades add up to', async () => {
    const page = (before = '') =>
      ann.get<TradesJson>(`/v1/trades?symbol=${MARKET}&limit=100${before}`)
    const { body } = await page()
    const { stats_24h } = body
    const trades = [...body.trades]
    for (let next = body.next_before_trade_id; next !== undefined;) {
      const { body: more } = await page(`&before_trade_id=${next}`)
      trades.push(...more.trades)
      next = more.next_before_trade_id
    }
    const prices = trades.map(({ price }) => e18(price as string))
    const sum = (values: bigint[]) => values.reduce((total, it) => total + it, 0n)
    expect(e18(stats_24h.volume as string)).to.equal(
      sum(trades.map(({ size }) => e18(size as string))),
    )
    const max = prices.reduce((a, b) => (a > b ? a : b))
    const min = prices.reduce((a, b) => (a < b ? a : b))
    expect(e18(stats_24h.high as string)).to.equal(max)
    expect(e18(stats_24h.low as string)).to.equal(min)
    expect(e18(stats_24h.last as string)).to.equal(prices[0])
    expect(e18(stats_24h.change as string)).to.equal((prices[0] ?? 0n) - (prices.at(-1) ?? 0n))
  })
})
