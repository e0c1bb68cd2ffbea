import type { OpenOrder } from '../core/records/book-record.js'
import type { Trade } from '../core/records/trade-record.js'
import type { Order, OrderProgress } from '../core/order.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../core/money.js'

/** An order and where it stands, as the projection holds it. */
export interface StoredOrder {
  readonly order: Order
  readonly progress: OrderProgress
}

/** Trailing 24 hours of a market; everything absent when nothing traded. */
export interface Stats24h {
  readonly first: PriceE18
  readonly last: PriceE18
  readonly high: PriceE18
  readonly low: PriceE18
  readonly volume: AmountE18
  readonly quoteVolume: QuoteE18
}

/** Questions the gateway asks of the projection; one file each behind it. Never blocks on the projector. */
export interface ReadModel {
  /** Highest feed `seq` of the market that is projected; 0 before the first. */
  projectedSeq(market: string): number
  order(orderId: string): StoredOrder | undefined
  /** Orders with something open, in no particular order. */
  openOrders(market: string): OpenOrder[]
  /** Newest first, strictly below `beforeTradeId` when given. */
  trades(market: string, limit: number, beforeTradeId?: number): Trade[]
  stats24h(market: string, nowMs: number): Stats24h | undefined
  /** Unix seconds of the newest fill. */
  lastTradeSec(market: string): number | undefined
  close(): void
}
