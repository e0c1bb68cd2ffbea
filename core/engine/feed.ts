import type { Address } from '../action.js'
import { assert } from '../assert.js'
import type { Market } from '../contracts/market.js'
import type { OpenOrder } from '../records/order-record.js'
import type { Trade } from '../records/trade-record.js'
import { heldReasonAfter, isLiving, isNextSeq, orderAfter, type Change } from './change.js'

/** How many of the newest trades a view keeps: what the `trades` snapshot shows. */
export const SNAPSHOT_TRADES = 50

/**
 * The public view of a market: the fold of the changes 1 … seq. One fold serves the snapshot and the updates, so that the
 * two cannot disagree.
 */
export interface MarketView {
  /** As the feed has stated it last. */
  market: Market
  /** Sequence of the newest folded change, 0 before the first. */
  seq: number
  /** Market time of the newest folded change, unix milliseconds; 0 before the first. */
  atMs: number
  /** Sequence of the newest trade, 0 before the first: the next trade frame's `prev_seq`. */
  lastTradeSeq: number
  /** Unix milliseconds of the newest trade that was not reversed, of those kept. */
  lastTradeAtMs: number | undefined
  /** Orders that are active or matching, by order id; those with nothing open are hidden but may come back. */
  readonly live: Map<string, OpenOrder>
  /** The same orders by owner; owners without one are absent. */
  readonly liveByOwner: Map<Address, Map<string, OpenOrder>>
  /** Newest first, at most SNAPSHOT_TRADES. */
  readonly trades: Trade[]
}

/** The view before the first change. */
export function emptyView(market: Market): MarketView {
  return {
    market,
    seq: 0,
    atMs: 0,
    lastTradeSeq: 0,
    lastTradeAtMs: undefined,
    live: new Map(),
    liveByOwner: new Map(),
    trades: [],
  }
}

/** Folds the next change into the view, in place. A change out of sequence is a broken invariant. */
export function applyChange(view: MarketView, change: Change): void {
  assert(
    isNextSeq(change.seq, view.seq),
    `${view.market.market}: change ${change.seq} cannot follow ${view.seq}`,
  )
  view.seq = change.seq
  view.atMs = change.atMs
  applyToOrder(view, change)
  const trade = completedTrade(change)
  if (trade !== undefined) recordTrade(view, trade)
  if (change.kind === 'FillReversed') markReversed(view, change.fill.tradeId)
}

/** The orders that can be hit, in no particular order. */
export function* openOrders(view: MarketView): Generator<OpenOrder> {
  for (const order of view.live.values()) if (order.progress.open > 0n) yield order
}

/** An owner's active and matching orders, newest first. */
export function ordersOf(view: MarketView, owner: Address): OpenOrder[] {
  return [...(view.liveByOwner.get(owner)?.values() ?? [])].sort((a, b) => b.rank - a.rank)
}

/** The trade that a change completes: only the taker's leg of a settled match completes one. */
export function completedTrade(change: Change): Trade | undefined {
  if (change.kind !== 'OrderFilled' || change.fill.liquidity !== 'taker') return undefined
  return { fill: change.fill, seq: change.seq, atMs: change.atMs }
}

function applyToOrder(view: MarketView, change: Change): void {
  if (!isLiving(change.status)) {
    forget(view, change)
    return
  }
  const known = view.live.get(change.orderId)
  const { order, rank } = change.kind === 'OrderPlaced' ? change : (known ?? {})
  assert(
    order !== undefined && rank !== undefined,
    `${view.market.market}: change ${change.seq} concerns an order that was never placed`,
  )
  const heldReason = heldReasonAfter(change, known?.progress.heldReason)
  const progress = {
    status: change.status,
    filled: change.filled,
    pending: change.pending,
    // Usually all of it, as one value in memory.
    open: change.open === order.desiredAmount ? order.desiredAmount : change.open,
    createdAtMs: known?.progress.createdAtMs ?? change.atMs,
    updatedAtMs: change.atMs,
  }
  const isHeld = heldReason !== undefined
  keep(view, {
    order: orderAfter(change, order),
    rank,
    progress: isHeld ? { ...progress, heldReason } : progress,
  })
}

function keep({ live, liveByOwner }: MarketView, kept: OpenOrder): void {
  const { orderId, owner } = kept.order
  live.set(orderId, kept)
  const own = liveByOwner.get(owner)
  if (own === undefined) liveByOwner.set(owner, new Map([[orderId, kept]]))
  else own.set(orderId, kept)
}

function forget(view: MarketView, { orderId, owner }: Change): void {
  view.live.delete(orderId)
  const own = view.liveByOwner.get(owner)
  own?.delete(orderId)
  if (own?.size === 0) view.liveByOwner.delete(owner)
}

/** Marks the trade in place; the newest trade that counts may now be an earlier one. */
function markReversed(view: MarketView, tradeId: number): void {
  const at = view.trades.findIndex(({ fill }) => fill.tradeId === tradeId)
  const trade = view.trades[at]
  if (trade !== undefined) view.trades[at] = { ...trade, reversed: true }
  view.lastTradeAtMs = view.trades.find(({ reversed }) => reversed !== true)?.atMs
}

function recordTrade(view: MarketView, trade: Trade): void {
  view.lastTradeSeq = trade.seq
  view.lastTradeAtMs = trade.atMs
  view.trades.unshift(trade)
  if (view.trades.length > SNAPSHOT_TRADES) view.trades.pop()
}
