import type { Market } from '../market.js'
import type { Order, OrderProgress } from '../order.js'

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
  readonly market_presentation: unknown
  readonly bids: readonly unknown[]
  readonly asks: readonly unknown[]
}

export function bookRecord(
  market: Market,
  openOrders: Iterable<OpenOrder>,
  options: { readonly lastTradeSec?: number; readonly depth?: number },
): BookRecord {
  throw new Error(`bookRecord ${market.market} ${String(options.depth)} ${typeof openOrders}`)
}
