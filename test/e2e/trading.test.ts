import { expect } from 'chai'
import { createRestClient, type TradeRecord } from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import type { TestVenue } from '../support/venue.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, e18, readBalances, SPOT, type Trader } from './stage/trader.js'

describe('a signed spot order becomes a trade settled on chain', function () {
  let venue: TestVenue
  let ann: Trader
  let bob: Trader
  let cat: Trader
  before(async function () {
    venue = await sharedVenue()
    ;[ann, bob, cat] = [0, 1, 2].map((name) => createTrader(venue.devnet, name)) as [
      Trader,
      Trader,
      Trader,
    ]
  })

  const rest = () => createRestClient(venue.gatewayUrl)
  const tradesOf = async (takerOrderId: string): Promise<TradeRecord[]> => {
    const { trades } = await rest().trades(SPOT, { limit: 100 })
    return trades.filter((trade) => trade.taker_order_id === takerOrderId)
  }

  /** The trader's own orders in the book, on both sides. */
  const bookOf = async (trader: Trader) => {
    const { bids, asks } = await rest().book(SPOT)
    return [...bids, ...asks].filter((it) => it.owner_address === trader.address)
  }

  it('crosses, settles and moves exactly what the fills say, the fee included (MON-021)', async () => {
    const feeAccount = BigInt(venue.devnet.spot_fee_subaccount_id)
    const before = [await ann.balances(), await bob.balances()] as const
    const feesBefore = await readBalances(venue.devnet, feeAccount)
    const maker = await ann.place({
      side: 'sell',
      amount: '1234567.890123',
      price: '0.00065432109876',
    })
    expect(maker.status).to.equal('active')
    const taker = await bob.place({ side: 'buy', amount: '1234567.890123', price: '0.0007' })
    expect(taker.status).to.equal('matching')
    await bob.until(taker.order_id, 'filled')
    await ann.until(maker.order_id, 'filled')

    const [trade, ...more] = await tradesOf(taker.order_id)
    expect(more).to.deep.equal([])
    expect(trade).to.include({
      maker_order_id: maker.order_id,
      price: '0.00065432109876',
      size: '1234567.890123',
      aggressor_side: 'buy',
    })
    const amount = e18('1234567.890123')
    const quote = (amount * e18('0.00065432109876')) / 10n ** 18n
    const fee = (quote * 25n) / 10_000n
    const after = [await ann.balances(), await bob.balances()] as const
    expect(after[0].cngnE18 - before[0].cngnE18).to.equal(-amount)
    expect(after[0].usdcE18 - before[0].usdcE18).to.equal(quote)
    expect(after[1].cngnE18 - before[1].cngnE18).to.equal(amount)
    expect(after[1].usdcE18 - before[1].usdcE18).to.equal(-quote - fee)
    const fees = await readBalances(venue.devnet, feeAccount)
    expect(fees.usdcE18 - feesBefore.usdcE18).to.equal(fee)
  })

  it('fills in parts, keeps the rest in the book and cancels it', async () => {
    const maker = await ann.place({ side: 'sell', amount: '1000', price: '0.0008' })
    const taker = await bob.place({ side: 'buy', amount: '400', price: '0.0008' })
    await bob.until(taker.order_id, 'filled')
    await eventually(async () => (await rest().order(maker.order_id)).filled_amount === '400')
    expect((await bookOf(ann)).map((it) => [it.order_id, it.open_amount])).to.deep.equal([
      [maker.order_id, '600'],
    ])
    const cancelled = await ann.cancel(maker)
    expect(cancelled).to.include({ status: 'cancelled', filled_amount: '400' })
    expect(await bookOf(ann)).to.deep.equal([])
  })

  /** In how many blocks three makers of one taker are settled. */
  async function blocksOfThree(): Promise<number> {
    const makers = [
      await ann.place({ side: 'sell', amount: '10', price: '0.0009' }),
      await cat.place({ side: 'sell', amount: '20', price: '0.00091' }),
      await ann.place({ side: 'sell', amount: '30', price: '0.00092' }),
    ]
    const taker = await bob.place({ side: 'buy', amount: '60', price: '0.00095' })
    await bob.until(taker.order_id, 'filled')
    const trades = await tradesOf(taker.order_id)
    expect(trades.map((trade) => trade.maker_order_id)).to.have.members(
      makers.map((maker) => maker.order_id),
    )
    return new Set(await Promise.all(trades.map((trade) => blockOf(venue, trade)))).size
  }

  it('settles three makers of one taker in the same block', async () => {
    // Where the machine is busy, a block may come between two matches of one step.
    const blocks = [await blocksOfThree()]
    while (!blocks.includes(1) && blocks.length < 5) blocks.push(await blocksOfThree())
    expect(blocks).to.include(1)
  })

  it('expires an order by the clock', async () => {
    const order = await cat.place({ side: 'buy', amount: '10', price: '0.0001', livesSec: 13 })
    expect(order.status).to.equal('active')
    await eventually(async () => (await bookOf(cat)).length === 0)
    const expired = await cat.until(order.order_id, 'expired')
    expect(expired.filled_amount).to.equal('0')
    await cat.cancel(order).then(
      () => expect.fail('an expired order was cancelled'),
      (error: { message: string }) => expect(error.message).to.equal('active order not found'),
    )
  })

  it('shows a cancel and a create to the next read at once', async () => {
    for (let round = 0; round < 5; round++) {
      const order = await cat.place({ side: 'buy', amount: '10', price: '0.0002' })
      expect((await rest().order(order.order_id)).status).to.equal('active')
      expect((await bookOf(cat)).map((it) => it.order_id)).to.deep.equal([order.order_id])
      await cat.cancel(order)
      expect((await rest().order(order.order_id)).status).to.equal('cancelled')
      expect(await bookOf(cat)).to.deep.equal([])
    }
  })

  it('an order resent is answered from what is stored', async () => {
    const body = await cat.sign({ side: 'buy', amount: '10', price: '0.0003' })
    const first = await rest().placeOrder(body)
    const second = await rest().placeOrder(body)
    expect(second.order_id).to.equal(first.order_id)
    expect(await bookOf(cat)).to.have.length(1)
    await cat.cancel(body)
  })
})

async function blockOf(venue: TestVenue, trade: TradeRecord): Promise<string> {
  const response = await fetch(venue.devnet.rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getTransactionReceipt',
      params: [trade.tx_hash],
    }),
  })
  const { result } = (await response.json()) as { result: { blockNumber: string; status: string } }
  expect(result.status).to.equal('0x1')
  return result.blockNumber
}
