import { Precise, type Balances, type Order, type OrderBook, type Ticker, type Trade } from 'ccxt'
import { expect } from 'chai'
import type { VenuePro } from '../../../../ccxt/index.js'
import { deal, type CcxtWorld, type Desk } from './world.js'

/** The rules of CCXT's present tests, which are published with no release, restated for every market. */

const CLOSE = 1e-9
const STATUSES = ['open', 'closed', 'canceled', 'expired', 'rejected']

function expectTrade(trade: Trade, { symbol }: Desk): void {
  expect(trade).to.deep.include({ symbol })
  expect(trade.id).to.be.a('string')
  expect(trade.timestamp).to.be.above(1_600_000_000_000)
  expect(trade.datetime).to.equal(new Date(trade.timestamp as number).toISOString())
  expect(trade.side).to.be.oneOf(['buy', 'sell'])
  expect(trade.price).to.be.above(0)
  expect(trade.amount).to.be.above(0)
  const cost = (trade.price ?? 0) * (trade.amount ?? 0)
  expect(trade.cost).to.be.closeTo(cost, cost * CLOSE)
  if (trade.order !== undefined) {
    expect(trade.takerOrMaker).to.be.oneOf(['taker', 'maker'])
    expect(trade.fee?.currency).to.equal('USDC')
    expect(trade.fee?.cost).to.be.at.least(0)
  }
}

function expectOrder(order: Order): void {
  const { amount = 0, filled = 0, remaining = 0, cost } = order
  expect(order.id).to.be.a('string')
  expect(order.clientOrderId).to.equal(order.id)
  expect(order.status).to.be.oneOf(STATUSES)
  expect(filled).to.be.within(0, amount)
  expect(remaining).to.be.within(0, amount)
  expect(filled + remaining).to.be.closeTo(amount, amount * CLOSE)
  if (filled === 0) {
    expect(cost).to.equal(0)
    expect(order.average).to.equal(undefined)
  } else {
    expect(cost).to.be.closeTo((order.average ?? 0) * filled, (cost ?? 0) * CLOSE)
    const better = (order.price ?? 0) - (order.average ?? 0)
    expect(order.side === 'buy' ? better : -better).to.be.at.least(-CLOSE)
  }
  expect(order.timestamp).to.be.at.most(order.lastUpdateTimestamp ?? 0)
  expect(order.timeInForce).to.be.oneOf(['GTC', 'IOC', 'FOK', 'PO'])
  expect(order.postOnly).to.equal(order.timeInForce === 'PO')
  if (order.status === 'closed') expect(remaining).to.equal(0)
}

function expectBook({ bids, asks, nonce, timestamp }: OrderBook): void {
  expect(nonce).to.be.above(0)
  expect(timestamp).to.be.above(1_600_000_000_000)
  for (const [side, sign] of [
    [bids, -1],
    [asks, 1],
  ] as const)
    for (const [index, [price = 0, size = 0]] of side.entries()) {
      expect(size).to.be.above(0)
      const before = side[index - 1]?.[0]
      if (before !== undefined) expect((price - before) * sign).to.be.above(0)
    }
  const bid = bids[0]?.[0]
  const ask = asks[0]?.[0]
  if (bid !== undefined && ask !== undefined) expect(bid).to.be.below(ask)
}

function expectTicker(ticker: Ticker, { symbol, type }: Desk): void {
  expect(ticker.symbol).to.equal(symbol)
  const { last = 0, high = 0, low = 0, baseVolume = 0, quoteVolume = 0, vwap = 0 } = ticker
  expect(last).to.equal(ticker.close)
  expect(low).to.be.above(0)
  expect(high).to.be.at.least(low)
  expect(last).to.be.within(low, high)
  expect(quoteVolume).to.be.within(baseVolume * low * (1 - CLOSE), baseVolume * high * (1 + CLOSE))
  expect(vwap).to.be.within(low * (1 - CLOSE), high * (1 + CLOSE))
  expect(ticker.change).to.be.closeTo(last - (ticker.open ?? 0), last * CLOSE)
  expect(ticker.percentage).to.be.closeTo(((ticker.change ?? 0) / (ticker.open ?? 1)) * 100, 1e-6)
  if (type !== 'spot') expect(ticker.markPrice).to.be.above(0)
}

/** As the numbers print. */
function expectBalance(taker: VenuePro, { total, free, used }: Balances): void {
  const byCode = [total, free, used].map((part) => part as unknown as Record<string, number>)
  for (const code of ['USDC', 'CNGN']) {
    const [all = '', left = '', taken = ''] = byCode.map(
      (part) => taker.numberToString(part[code]) ?? '',
    )
    expect(
      Precise.stringEq(all, Precise.stringAdd(left, taken)),
      `${all} ${left} ${taken}`,
    ).to.equal(true)
  }
}

export function rulesOfCcxt(get: () => CcxtWorld): void {
  it('markets are those of CCXT: symbols, kinds, steps, sizes and fees', () => {
    const { taker, desks } = get()
    for (const { symbol, type } of desks) {
      const market = taker.market(symbol)
      expect(market).to.deep.include({ symbol, type, [type]: true, active: true, margin: false })
      expect([market?.spot, market?.swap, market?.future].filter(Boolean)).to.have.length(1)
      const isContract = type !== 'spot'
      expect(market).to.include({
        contract: isContract,
        linear: isContract ? true : undefined,
        inverse: isContract ? false : undefined,
        contractSize: isContract ? 1 : undefined,
        settle: isContract ? market?.quote : undefined,
      })
      expect(market?.precision.price).to.be.above(0)
      expect(market?.precision.amount).to.equal(market?.limits.amount?.min)
      expect(market?.taker).to.equal(0.0025)
      expect(market?.maker).to.equal(0)
      const isDated = type === 'future'
      expect(market?.expiry !== undefined).to.equal(isDated)
      if (isDated) expect(symbol).to.equal(`USDC/CNGN:CNGN-${taker.yymmdd(market?.expiry)}`)
    }
    expect(Object.keys(taker.currencies)).to.have.members(['USDC', 'CNGN'])
  })

  it('trades, orders, tickers, books and candles keep its rules in every market', async () => {
    const world = get()
    const { taker, desks } = world
    for (const desk of desks) {
      const { symbol, type, amount, low } = desk
      await deal(world, desk)
      await deal(world, desk, 'sell')
      await taker.createOrder(symbol, 'limit', 'buy', amount, low)
      const trades = await taker.fetchTrades(symbol)
      for (const trade of [...trades, ...(await taker.fetchMyTrades(symbol))])
        expectTrade(trade, desk)
      for (const order of await taker.fetchOrders(symbol)) expectOrder(order)
      for (const order of await taker.fetchOpenOrders(symbol)) expectOrder(order)
      expectTicker(await taker.fetchTicker(symbol), desk)
      if (type === 'spot') expectBalance(taker, await taker.fetchBalance())
      const book = await taker.fetchOrderBook(symbol)
      expect(book.bids).to.have.length(1)
      expectBook(book)
      const candles = await taker.fetchOHLCV(symbol, '1m')
      expect(candles.length).to.be.above(0)
      for (const [time = 0, open = 0, high = 0, lowest = 0, close = 0] of candles) {
        expect(time % 60_000).to.equal(0)
        expect(Math.max(open, close)).to.be.at.most(high)
        expect(Math.min(open, close)).to.be.at.least(lowest)
      }
      await taker.cancelAllOrders(symbol)
    }
  })

  it('`since` gives the first rows from then on, and `limit` as many, oldest first', async () => {
    const { taker, desks } = get()
    for (const { symbol } of desks) {
      const trades = await taker.fetchTrades(symbol)
      expect(trades.length).to.be.above(2)
      const times = trades.map(({ timestamp }) => timestamp ?? 0)
      expect(times).to.deep.equal(times.toSorted((a, b) => a - b))
      const since = times[1] ?? 0
      const from = trades.filter(({ timestamp }) => (timestamp ?? 0) >= since)
      const wanted = from.map(({ id }) => id)
      const idsOf = async (limit?: number) =>
        (await taker.fetchTrades(symbol, since, limit)).map(({ id }) => id)
      expect(await idsOf()).to.have.members(wanted)
      expect(await taker.fetchTrades(symbol, since, 1)).to.have.length(1)
      expect((await taker.fetchTrades(symbol, since, 1))[0]?.timestamp).to.equal(since)
      const own = await taker.fetchMyTrades(symbol, 0, 1)
      expect(own[0]?.timestamp).to.equal((await taker.fetchMyTrades(symbol))[0]?.timestamp)
      const orders = await taker.fetchOrders(symbol, 0, 2)
      expect(orders.map(({ symbol: of }) => of)).to.deep.equal([symbol, symbol])
    }
  })
}
