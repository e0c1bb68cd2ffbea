import {
  BadRequest,
  DuplicateOrderId,
  InsufficientFunds,
  InvalidOrder,
  NetworkError,
  OrderImmediatelyFillable,
  OrderNotFillable,
  OrderNotFound,
  type Order,
} from 'ccxt'
import { expect } from 'chai'
import type { VenuePro } from '../../../../ccxt/index.js'
import { eventually } from '../../../support/eventually.js'
import { deal, ended, idOf, type CcxtWorld } from './world.js'

type ErrorClass = new (message: string) => Error

async function thrown(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

async function refused(promise: Promise<unknown>, kind: ErrorClass): Promise<void> {
  expect(await thrown(promise)).to.be.instanceOf(kind)
}

/** The answer of the next request is lost after the venue has given it. */
function loseNextAnswer(exchange: VenuePro): void {
  const fetch = exchange.fetch.bind(exchange)
  exchange.fetch = async (...args: Parameters<typeof fetch>) => {
    exchange.fetch = fetch
    await fetch(...args)
    throw new NetworkError('the connection is gone')
  }
}

export function ordersOfTheClass(get: () => CcxtWorld): void {
  const each = (title: string, run: (index: number) => Promise<void>) => {
    for (const [index, name] of ['spot', 'swap', 'future'].entries())
      it(`${title} (${name})`, () => run(index))
  }

  each('places, shows and cancels an order in the terms of its symbol', async (index) => {
    const { taker, desks } = get()
    const { symbol, amount, low } = desks[index]!
    const order = await taker.createOrder(symbol, 'limit', 'buy', amount, low, { postOnly: true })
    expect(order).to.deep.include({
      symbol,
      side: 'buy',
      type: 'limit',
      status: 'open',
      price: low,
      amount,
      filled: 0,
      remaining: amount,
      cost: 0,
      timeInForce: 'PO',
      postOnly: true,
    })
    const open = await taker.fetchOpenOrders(symbol)
    expect(open.map(({ id }) => id)).to.deep.equal([order.id])
    const book = await taker.fetchOrderBook(symbol, 5)
    expect(book.bids[0]).to.deep.equal([low, amount])
    const cancelled = await taker.cancelOrder(idOf(order), symbol)
    expect(cancelled).to.include({ id: order.id, status: 'canceled', remaining: amount })
    expect(await taker.fetchOpenOrders(symbol)).to.deep.equal([])
  })

  each('shows what an order has cost, its average and its fee, as its trades add up', async (i) => {
    const world = get()
    const { symbol, amount, price } = world.desks[i]!
    const { taker, maker } = await deal(world, world.desks[i]!)
    for (const [order, exchange] of [
      [taker, world.taker],
      [maker, world.maker],
    ] as const) {
      expect(order).to.include({ status: 'closed', filled: amount, remaining: 0, average: price })
      expect(order.cost).to.be.closeTo(amount * price, 1e-9)
      const trades = await exchange.fetchOrderTrades(idOf(order), symbol)
      expect(trades).to.have.length(1)
      expect(trades[0]).to.deep.include({ symbol, price, amount, order: order.id })
      expect(trades[0]?.cost).to.equal(order.cost)
      expect(trades[0]?.fee).to.deep.equal(order.fee)
    }
    expect(taker.fee?.currency).to.equal('USDC')
    expect(taker.fee?.cost).to.be.above(0)
    // Back to where it was.
    await deal(world, world.desks[i]!, 'sell')
  })

  each('buys and sells at the market, as IOC orders', async (index) => {
    const { maker, taker, desks } = get()
    const { symbol, amount, low, high } = desks[index]!
    await refused(taker.createOrder(symbol, 'market', 'buy', amount), OrderNotFillable)
    await maker.createOrders([
      { symbol, type: 'limit', side: 'sell', amount, price: high },
      { symbol, type: 'limit', side: 'buy', amount, price: low },
    ])
    const bought = await taker.createOrder(symbol, 'market', 'buy', amount)
    expect(await ended(taker, idOf(bought))).to.include({
      status: 'closed',
      average: high,
      timeInForce: 'IOC',
    })
    const sold = await taker.createOrder(symbol, 'market', 'sell', amount)
    expect(await ended(taker, idOf(sold))).to.include({ status: 'closed', average: low })
  })

  each('is never final before its fills, an IOC order with a remainder too', async (index) => {
    const { maker, taker, desks } = get()
    const { symbol, amount, price } = desks[index]!
    const resting = await maker.createOrder(symbol, 'limit', 'sell', amount, price)
    const inForce = { timeInForce: 'IOC' }
    const order = await taker.createOrder(symbol, 'limit', 'buy', amount * 2, price, inForce)
    const seen: Order[] = [order]
    await eventually(async () => {
      const now = await taker.fetchOrder(idOf(order))
      seen.push(now)
      if (now.status !== 'open') return true
      const open = await taker.fetchOpenOrders(symbol)
      // Listed as open, or it has ended since.
      const listed = open.some(({ id }) => id === order.id)
      return !listed && (await taker.fetchOrder(idOf(order))).status !== 'open'
    }, 60_000)
    expect(order.status).to.equal('open')
    for (const { status, filled } of seen) if (status !== 'open') expect(filled).to.equal(amount)
    const last = await ended(taker, idOf(order))
    expect(last).to.include({ status: 'canceled', filled: amount, remaining: amount })
    await ended(maker, idOf(resting))
    await deal({ ...get(), maker, taker }, desks[index]!, 'sell')
  })

  it('edits in place, cancels several, and arms and disarms the dead man’s switch', async () => {
    const { taker, desks } = get()
    const [{ symbol, amount, low }] = desks
    const first = await taker.createOrder(symbol, 'limit', 'buy', amount, low)
    const edited = await taker.editOrder(idOf(first), symbol, 'limit', 'buy', amount * 2, low)
    expect(edited).to.include({ status: 'open', amount: amount * 2 })
    expect((await taker.fetchOrder(idOf(first))).status).to.equal('canceled')
    const wishes = Array.from({ length: 23 }, () => ({
      symbol,
      type: 'limit',
      side: 'buy' as const,
      amount,
      price: low,
    }))
    const orders = await taker.createOrders(wishes)
    expect(orders.map(({ status }) => status)).to.deep.equal(wishes.map(() => 'open'))
    const ids = orders.slice(0, 3).map(idOf)
    const cancelled = await taker.cancelOrders([...ids, 'none such'])
    expect(cancelled.map(({ id, status }) => [id, status])).to.deep.equal([
      ...ids.map((id) => [id, 'canceled']),
      ['none such', undefined],
    ])
    await taker.cancelAllOrdersAfter(60_000)
    await taker.cancelAllOrdersAfter(0)
    await refused(taker.cancelAllOrdersAfter(5_000), BadRequest)
    const all = await taker.cancelAllOrders(symbol)
    expect(all).to.have.length(21)
    expect(await taker.fetchOpenOrders()).to.deep.equal([])
  })

  it('throws what programs expect', async () => {
    const { maker, taker, desks } = get()
    const [spot, perpetual] = desks
    const { symbol, amount, price, low } = spot
    const buy = (...more: [number, number, object?]) =>
      taker.createOrder(symbol, 'limit', 'buy', ...more)
    await refused(buy(1e13, low), InsufficientFunds)
    await refused(taker.createOrder(perpetual.symbol, 'limit', 'buy', 1e12, low), InsufficientFunds)
    expect(await taker.fetchOpenOrders()).to.deep.equal([])
    await refused(taker.cancelOrder('none such'), OrderNotFound)
    await refused(taker.fetchOrder('none such'), OrderNotFound)
    await refused(buy(amount, low, { reduceOnly: true }), InvalidOrder)
    const resting = await maker.createOrder(symbol, 'limit', 'sell', amount, price)
    await refused(buy(amount, price, { postOnly: true }), OrderImmediatelyFillable)
    const rejected = await taker.createOrders([
      { symbol, amount, price, type: 'limit', side: 'buy', params: { postOnly: true } },
    ])
    expect(rejected.map(({ status }) => status)).to.deep.equal(['rejected'])
    await maker.cancelOrder(idOf(resting))
    await refused(
      maker.createOrder(symbol, 'limit', 'buy', amount, low, { clientOrderId: resting.id }),
      DuplicateOrderId,
    )
  })

  it('places an order once whose answer is lost, and returns the order', async () => {
    const { taker, desks } = get()
    const [{ symbol, amount, low }] = desks
    loseNextAnswer(taker)
    const order = await taker.createOrder(symbol, 'limit', 'buy', amount, low)
    expect(order.status).to.equal('open')
    expect((await taker.fetchOpenOrders()).map(({ id }) => id)).to.deep.equal([order.id])
    await taker.cancelOrder(idOf(order))
  })

  it('places an order once through a kill of gateway and intake before the answer', async () => {
    const { taker, venue, desks } = get()
    const [{ symbol, amount, low }] = desks
    const clientOrderId = `killed-${Date.now()}`
    const place = () => taker.createOrder(symbol, 'limit', 'buy', amount, low, { clientOrderId })
    const first = place().catch((error: unknown) => error)
    const restarts = ['gateway', 'order-intake'].map((name) => venue.restartWorker(name, 'SIGKILL'))
    const outcome = await first
    await Promise.all(restarts)
    await venue.untilReady()
    if (outcome instanceof Error) expect(outcome).to.be.instanceOf(NetworkError)
    // Called again by its id: the same signature is sent, or the venue says that the id is taken.
    let order: Order | undefined
    await eventually(async () => {
      const again = await place().catch((error: unknown) => error as Error)
      if (again instanceof DuplicateOrderId) order = await taker.fetchOrder(clientOrderId)
      else if (!(again instanceof Error)) order = again
      else if (!(again instanceof NetworkError)) throw again
      return order !== undefined
    }, 60_000)
    expect(order).to.include({ id: clientOrderId, status: 'open', amount })
    const mine = (await taker.fetchOrders(symbol)).filter(({ id }) => id === clientOrderId)
    expect(mine).to.have.length(1)
    const open = await taker.fetchOpenOrders()
    expect(open.map(({ id }) => id)).to.deep.equal([clientOrderId])
    await taker.cancelAllOrders()
  })
}
