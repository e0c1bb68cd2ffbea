import type { Change, ChangeBase } from '../change.js'
import { formatDecimal } from '../decimal.js'
import { completedTrade } from '../feed.js'
import type { Market } from '../market.js'
import type { OrderStatus } from '../order.js'
import { isoTime } from './iso-time.js'
import type { Trade } from './trade-record.js'

/** What every update frame says besides its data (interface 6.3, decision A1). */
interface UpdateFrame<Channel extends string, Data> {
  readonly type: 'update'
  readonly channel: Channel
  readonly market: string
  readonly seq: number
  /** Sequence of the previous update of the same channel and market, on `orders` also owner; 0 if there was none. */
  readonly prev_seq: number
  /** ISO 8601 time of the change. */
  readonly ts: string
  readonly data: Data
}

/** A change of one order as the book sees it; amounts and prices are decimal strings in engine terms. */
export type BookUpdate = UpdateFrame<
  'book',
  {
    readonly side: 'buy' | 'sell'
    /** Limit price in whole ticks. */
    readonly price_ticks: string
    readonly limit_price: string
    /** How much the level gained, signed. */
    readonly size_delta: string
    /** What the order itself has left to hit, `0` when it is gone. */
    readonly order_open: string
    readonly order_id: string
  }
>

/** One settled match; engine price, size and side. */
export type TradesUpdate = UpdateFrame<
  'trades',
  {
    readonly trade_id: number
    readonly price: string
    readonly size: string
    readonly aggressor_side: 'buy' | 'sell'
    readonly taker_order_id: string
    readonly maker_order_id: string
    readonly created_at: string
  }
>

/** Where a change left one of the owner's orders. */
export type OrdersUpdate = UpdateFrame<
  'orders',
  {
    readonly order_id: string
    readonly status: OrderStatus
    readonly side: 'buy' | 'sell'
    /** Settled on chain. */
    readonly filled_amount: string
    readonly desired_amount: string
    readonly limit_price: string
    /** Limit price in whole ticks. */
    readonly price_ticks: string
  }
>

/** The `orders` frame of a change, for its owner only: every change has exactly one. */
export function ordersUpdate(
  market: Market,
  change: ChangeBase,
  previousOwnerSeq: number,
): OrdersUpdate {
  return {
    type: 'update',
    channel: 'orders',
    market: market.market,
    seq: change.seq,
    prev_seq: previousOwnerSeq,
    ts: isoTime(change.atMs),
    data: {
      order_id: change.orderId,
      status: change.status,
      side: change.side,
      filled_amount: formatDecimal(change.filled, 18),
      desired_amount: formatDecimal(change.desired, 18),
      limit_price: formatDecimal(change.limitPrice, 18),
      price_ticks: priceTicks(market, change),
    },
  }
}

/** Exact: a limit price off the tick is refused before it can be placed. */
const priceTicks = (market: Market, { limitPrice }: ChangeBase): string =>
  (limitPrice / market.tickSize).toString()

/** The `book` frame of a change: every change has exactly one. */
export function bookUpdate(market: Market, change: ChangeBase): BookUpdate {
  return {
    type: 'update',
    channel: 'book',
    market: market.market,
    seq: change.seq,
    prev_seq: change.seq - 1,
    ts: isoTime(change.atMs),
    data: {
      side: change.side,
      price_ticks: priceTicks(market, change),
      limit_price: formatDecimal(change.limitPrice, 18),
      size_delta: formatDecimal(change.openDelta, 18),
      order_open: formatDecimal(change.open, 18),
      order_id: change.orderId,
    },
  }
}

/** The `trades` frame of a change that completes a trade; undefined for all others. */
export function tradesUpdate(
  market: Market,
  change: Change,
  previousTradeSeq: number,
): TradesUpdate | undefined {
  const trade = completedTrade(change)
  return trade === undefined ? undefined : tradeUpdate(market, trade, previousTradeSeq)
}

/** The `trades` frame of a trade. */
export function tradeUpdate(market: Market, trade: Trade, previousTradeSeq: number): TradesUpdate {
  const at = isoTime(trade.atMs)
  return {
    type: 'update',
    channel: 'trades',
    market: market.market,
    seq: trade.seq,
    prev_seq: previousTradeSeq,
    ts: at,
    data: {
      trade_id: trade.fill.tradeId,
      price: formatDecimal(trade.fill.price, 18),
      size: formatDecimal(trade.fill.amount, 18),
      aggressor_side: trade.fill.takerSide,
      taker_order_id: trade.fill.takerOrderId,
      maker_order_id: trade.fill.makerOrderId,
      created_at: at,
    },
  }
}
