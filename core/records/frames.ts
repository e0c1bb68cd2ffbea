import type { BookUpdate, OrdersUpdate, TradesUpdate } from '../../interface/socket.js'
import type { Market } from '../contracts/market.js'
import { formatDecimal } from '../decimal.js'
import type { Change, ChangeBase } from '../engine/change.js'
import { completedTrade } from '../engine/feed.js'
import { isoTime } from '../time.js'
import { markOf, type Trade } from './trade-record.js'

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
      ...markOf(trade.fill),
    },
  }
}
