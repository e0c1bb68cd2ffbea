import { NetworkError, type Order, type OrderBook, type Trade } from 'ccxt'
import { expect } from 'chai'
import type { VenuePro } from '../../../../ccxt/index.js'
import { eventually } from '../../../support/eventually.js'
import { deal, ended, idOf, type CcxtWorld } from './world.js'

/** Frames of the book that are held to their checksum, in each market. */
const FRAMES = 12

/** Cuts the connection as a network does: without a word. */
function cut(exchange: VenuePro): void {
  for (const client of Object.values(exchange.clients)) {
    const { connection } = client as unknown as { readonly connection: { terminate(): void } }
    connection.terminate()
  }
}

/** Calls again where the connection has gone meanwhile, as programs do. */
async function again<T>(watch: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await watch()
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error
    }
  }
}

/** What has come of a stream until something holds; it goes on by itself. */
async function collect<T>(
  watch: () => Promise<readonly T[]>,
  isWhole: (all: readonly T[]) => boolean,
): Promise<T[]> {
  const all: T[] = []
  while (!isWhole(all)) all.push(...(await again(watch)))
  return all
}

export function streamsOfTheClass(get: () => CcxtWorld): void {
  it('each frame of a book fits its checksum, and the last one is the book over REST', async () => {
    const { maker, taker, desks } = get()
    await Promise.all(
      desks.map(async ({ symbol, amount, low }) => {
        let frames = 0
        let book: OrderBook = await taker.watchOrderBook(symbol)
        const changes = async () => {
          for (let step = 1; frames < FRAMES; step += 1) {
            const price = low * (1 - (step % 5) / 100)
            const { id } = await maker.createOrder(symbol, 'limit', 'buy', amount, price)
            if (step % 2 === 0) await maker.cancelOrder(id ?? '')
          }
        }
        const watching = async () => {
          for (; frames < FRAMES; frames += 1) book = await taker.watchOrderBook(symbol)
        }
        await Promise.all([changes(), watching()])
        await eventually(async () => {
          const shown = await taker.fetchOrderBook(symbol)
          if (shown.nonce !== book.nonce) book = taker.orderbooks[symbol] as unknown as OrderBook
          return shown.nonce === book.nonce
        })
        const shown = await taker.fetchOrderBook(symbol)
        expect([...book.bids]).to.deep.equal(shown.bids)
        expect([...book.asks]).to.deep.equal(shown.asks)
        await maker.cancelAllOrders(symbol)
      }),
    )
  })

  it('a book whose checksum does not fit is thrown away, and begins again', async () => {
    const { maker, taker, desks } = get()
    const [{ symbol, amount, low }] = desks
    // It is followed since the test before.
    const texts = taker.levelTexts('levels:cNGN-USDC:25') as { readonly bids: object }
    Object.assign(texts.bids, { '0.0001': '1' })
    const wrong = taker.watchOrderBook(symbol).catch((error: unknown) => error as Error)
    const order = await maker.createOrder(symbol, 'limit', 'buy', amount, low)
    expect((await wrong).constructor.name).to.equal('ChecksumError')
    const { bids } = await taker.watchOrderBook(symbol)
    expect([...bids]).to.deep.equal([[low, amount]])
    await maker.cancelOrder(idOf(order))
  })

  it('trades and own trades of a cut come once when the stream goes on', async () => {
    const world = get()
    const [desk] = world.desks
    const { symbol } = desk
    const { taker } = world
    const before = new Set((await again(() => taker.watchTrades(symbol))).map(({ id }) => id))
    const own = new Set((await taker.fetchMyTrades(symbol)).map(({ id }) => id))
    const watched = collect<Trade>(
      () => taker.watchMyTrades(symbol),
      (all) => all.filter(({ id }) => !own.has(id)).length >= 2,
    )
    await deal(world, desk)
    cut(taker)
    await deal(world, desk, 'sell')
    const trades = await collect<Trade>(
      () => taker.watchTrades(symbol),
      (all) => all.filter(({ id }) => !before.has(id)).length >= 2,
    )
    const fresh = trades.filter(({ id }) => !before.has(id))
    expect(fresh.map(({ side }) => side)).to.deep.equal(['buy', 'sell'])
    const mine = (await watched).filter(({ id }) => !own.has(id))
    expect(mine.map(({ side }) => side)).to.deep.equal(['buy', 'sell'])
    const shown = await taker.fetchMyTrades(symbol, undefined, 2)
    expect(mine).to.deep.equal(
      mine.map(({ id }) => ({
        ...shown.find((one) => one.id === id),
        info: mine.find((one) => one.id === id)?.info,
      })),
    )
  })

  it('orders are as REST shows them, through a cut', async () => {
    const world = get()
    const { taker } = world
    const known = new Map<string, Order>()
    const ids: string[] = []
    let isOver = false
    const isLast = () => ids.every((id) => known.get(id)?.status === 'closed')
    // The last call ends when the exchange is closed.
    const watching = async () => {
      while (!isOver)
        for (const order of await again(() => taker.watchOrders())) known.set(idOf(order), order)
    }
    watching().catch(() => undefined)
    for (const desk of world.desks) ids.push(idOf((await deal(world, desk)).taker))
    cut(taker)
    for (const desk of world.desks) ids.push(idOf((await deal(world, desk, 'sell')).taker))
    await eventually(isLast)
    isOver = true
    for (const id of ids) {
      const { status, filled, remaining, average, cost, fee, side, amount } = await ended(taker, id)
      const shown = { status, filled, remaining, average, cost, fee, side, amount }
      expect(known.get(id), id).to.deep.include(shown)
    }
  })

  it('tickers, candles and balances follow a trade', async () => {
    const world = get()
    const { taker, desks } = world
    const [desk] = desks
    const { symbol, amount, price } = desk
    await Promise.all([taker.watchTicker(symbol), taker.watchOHLCV(symbol), taker.watchBalance()])
    const until = async <T>(watch: () => Promise<T>, holds: (value: T) => boolean) => {
      for (;;) if (holds(await again(watch))) return
    }
    const { total } = await taker.fetchBalance()
    const has = (total as unknown as Record<string, number>).CNGN ?? 0
    const followed = Promise.all([
      until(
        () => taker.watchTicker(symbol),
        ({ last }) => last === price,
      ),
      until(
        () => taker.watchTickers([symbol]),
        (tickers) => tickers[symbol]?.last === price,
      ),
      until(
        () => taker.watchOHLCV(symbol),
        (candles) => candles.at(-1)?.[4] === price,
      ),
      until(
        () => taker.watchBalance(),
        (balance) => Math.abs((balance.CNGN?.total ?? 0) - has - amount) < 1e-6,
      ),
    ])
    await deal(world, desk)
    await followed
    await deal(world, desk, 'sell')
  })
}
