import type { Market } from '../market.js'
import type { Order, OrderProgress, Side } from '../order.js'
import { marketEntry } from './market-entry.js'
import type { MarketEntry } from './market-entry.js'
import { orderRecord } from './order-record.js'
import type { OrderRecord } from './order-record.js'

/** An order that can be hit, with what its place in the book follows from. */
export interface OpenOrder {
  readonly order: Order
  readonly progress: OrderProgress
  /** Time priority within a price: number of placement in the market's log. */
  readonly rank: number
}

/**
 * The body of `GET /v1/book`, which is also the `book` channel's snapshot (interface 2.7, decision D2): bids high to
 * low, asks low to high, then time priority. `depth` keeps that many orders of each side.
 */
export interface BookRecord {
  readonly market_presentation: MarketEntry
  readonly bids: readonly OrderRecord[]
  readonly asks: readonly OrderRecord[]
}

/** Presents the open orders of a market, in whatever order they come. */
export function bookRecord(
  market: Market,
  openOrders: Iterable<OpenOrder>,
  options: { readonly lastTradeSec?: number | undefined; readonly depth?: number | undefined },
): BookRecord {
  const all = [...openOrders]
  const side = (wanted: Side): OrderRecord[] =>
    all
      .filter((open) => open.order.side === wanted)
      .sort(byPriority)
      .slice(0, options.depth)
      .map(({ order, progress }) => orderRecord(market, order, progress))
  return {
    market_presentation: marketEntry(market, options.lastTradeSec),
    bids: side('buy'),
    asks: side('sell'),
  }
}

/** Best price first, then the earlier order; both orders are on the same side. */
function byPriority(a: OpenOrder, b: OpenOrder): number {
  if (a.order.limitPrice === b.order.limitPrice) return a.rank - b.rank
  const lowFirst = a.order.limitPrice < b.order.limitPrice ? -1 : 1
  return a.order.side === 'sell' ? lowFirst : -lowFirst
}
