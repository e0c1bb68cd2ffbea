import type { FillEvent as FillEventRecord } from '../../interface/fill-event.js'
import type { BookUpdate, FillsUpdate, OrdersUpdate, TradesUpdate } from '../../interface/socket.js'
import { contractOf } from '../contracts/registry.js'
import { spotContract } from '../contracts/translation.js'
import { formatDecimal } from '../decimal.js'
import { completedTrade, type OrderStand } from '../engine/feed.js'
import { isFinal, ownFilled } from '../engine/order-sums.js'
import type { Change, ChangeBase } from '../model/change.js'
import type { Market } from '../model/market.js'
import type { LegEvent } from '../model/match.js'
import { isoTime } from '../time.js'
import { figuresRecord } from './order-figures.js'
import { markOf, type Trade } from './trade-record.js'

/**
 * The `orders` frame of a change, for its owner only: every change has exactly one. `stand` is how the change leaves the order;
 * what it does not know is left out.
 */
export function ordersUpdate(
  market: Market,
  change: ChangeBase,
  { stand, ownerSeq }: { readonly stand: OrderStand | undefined; readonly ownerSeq: number },
): OrdersUpdate {
  const at = isoTime(change.atMs)
  const filled = stand === undefined ? change.filled : ownFilled(stand, change)
  return {
    type: 'update',
    channel: 'orders',
    market: market.market,
    seq: change.seq,
    prev_seq: ownerSeq,
    ts: at,
    data: {
      order_id: change.orderId,
      status: change.status,
      side: change.side,
      filled_amount: formatDecimal(filled, 18),
      desired_amount: formatDecimal(change.desired, 18),
      limit_price: formatDecimal(change.limitPrice, 18),
      price_ticks: priceTicks(market, change),
      pending_amount: formatDecimal(change.pending, 18),
      final: isFinal(change),
      updated_at: at,
      ...(stand !== undefined && {
        subaccount_id: stand.subaccountId.toString(),
        inherited_filled_amount: formatDecimal(stand.initialFilled, 18),
        ...(stand.cancelReason !== undefined && { cancel_reason: stand.cancelReason }),
        ...figuresRecord(filled, stand.sums),
      }),
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

/** Presents the state of a match for one order: engine values, and the order's side of it in trader terms. */
export function fillEventRecord(market: Market, event: LegEvent): FillEventRecord {
  const contract = spotContract(market, event)
  return {
    settlement_id: event.settlementId,
    order_id: event.orderId,
    ...(event.subaccountId !== undefined && { subaccount_id: event.subaccountId.toString() }),
    status: event.status,
    liquidity: event.liquidity,
    side: event.side,
    price: formatDecimal(event.price, 18),
    size: formatDecimal(event.amount, 18),
    fee: formatDecimal(event.fee, 18),
    created_at: isoTime(event.atMs),
    ...tradeFields(market, event),
    ...(event.revert !== undefined && { reason: event.revert }),
    ...(contract !== undefined && { spot_contract: contract }),
  }
}

function tradeFields(market: Market, { trade, ...leg }: LegEvent): Partial<FillEventRecord> {
  if (trade === undefined) return {}
  const { tradeId, txHash, blockNumber, markPrice } = trade
  return {
    trade_id: tradeId,
    tx_hash: txHash,
    block_number: Number(blockNumber),
    ...(markPrice !== undefined && contractOf(market).present.fill?.({ ...leg, markPrice })),
  }
}

/** The `fills` frame of an event, with the numbers of the channel's own stream. */
export const fillsUpdate = (
  market: Market,
  event: LegEvent,
  { seq, prevSeq }: { readonly seq: number; readonly prevSeq: number },
): FillsUpdate => ({
  type: 'update',
  channel: 'fills',
  market: market.market,
  seq,
  prev_seq: prevSeq,
  ts: isoTime(event.atMs),
  data: fillEventRecord(market, event),
})
