import type { Market } from '../market.js'
import type { Order, OrderProgress, Side } from '../order.js'
import { marketEntry } from './market-entry.js'
import { orderRecordJson } from './order-record.js'

/** An order that can be hit, with what its place in the book follows from. */
export interface OpenOrder {
  readonly order: Order
  readonly progress: OrderProgress
  /** Time priority within a price: number of placement in the market's log. */
  readonly rank: number
}

/**
 * The body of `GET /v1/book`, which is also the `book` channel's snapshot (interface 2.7, decision D2), as JSON text: bids
 * high to low, asks low to high, then time priority. `depth` keeps that many orders of each side. The open orders of the
 * market may come in whatever order.
 */
export function bookRecordJson(
  market: Market,
  openOrders: Iterable<OpenOrder>,
  options: { readonly lastTradeSec?: number | undefined; readonly depth?: number | undefined },
): string {
  const all = [...openOrders]
  const side = (wanted: Side): string =>
    all
      .filter((open) => open.order.side === wanted)
      .sort(byPriority)
      .slice(0, options.depth)
      .map(({ order, progress }) => orderRecordJson(market, order, progress))
      .join(',')
  const presentation = JSON.stringify(marketEntry(market, options.lastTradeSec))
  return `{"market_presentation":${presentation},"bids":[${side('buy')}],"asks":[${side('sell')}]}`
}

/** Best price first, then the earlier order; both orders are on the same side. */
function byPriority(a: OpenOrder, b: OpenOrder): number {
  if (a.order.limitPrice === b.order.limitPrice) return a.rank - b.rank
  const lowFirst = a.order.limitPrice < b.order.limitPrice ? -1 : 1
  return a.order.side === 'sell' ? lowFirst : -lowFirst
}
