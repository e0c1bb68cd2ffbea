import type { Address } from '../action.js'
import { assert } from '../assert.js'
import { heldReasonAfter, isNextSeq, orderAfter, type Change } from '../model/change.js'
import type { Market } from '../model/market.js'
import { isLiving } from '../model/order.js'
import type { AmountE18 } from '../money.js'
import type { OpenOrder } from '../records/order-record.js'
import type { Trade } from '../records/trade-record.js'
import { sumsAfter, type OrderSums } from './order-sums.js'

/** How many of the newest trades a view keeps: what the `trades` snapshot shows. */
export const SNAPSHOT_TRADES = 50

/**
 * Ended orders that stay known: the chain may lose a fill of one or fill it late, and what one inherited is not a fill of its own, also
 * when its changes are replayed. Older ones are forgotten.
 */
const ENDED_KEPT = 16_384

/** What an order's frames show of it that its changes do not carry. */
export interface OrderStand {
  readonly subaccountId: bigint
  /** What counts as filled of it and was not a fill of its own. */
  readonly initialFilled: AmountE18
  readonly cancelReason: string | undefined
  /** Whether anything of it was ever matched: an order that was not can have no fill. */
  readonly wasMatched: boolean
  /** Undefined before its first fill, and where its fills are not known. */
  readonly sums: OrderSums | undefined
}

/** A live order of a view. */
export interface ViewedOrder extends OpenOrder {
  readonly stand: OrderStand
}

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
  readonly live: Map<string, ViewedOrder>
  /** The same orders by owner; owners without one are absent. */
  readonly liveByOwner: Map<Address, Map<string, ViewedOrder>>
  /** Ended orders of which something awaits settlement; the matcher bounds them. */
  readonly settling: Map<string, OrderStand>
  /** Ended orders that were matched or inherited something, the newest last, at most ENDED_KEPT. */
  readonly ended: Map<string, OrderStand>
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
    settling: new Map(),
    ended: new Map(),
    trades: [],
  }
}

/**
 * Folds the next change into the view, in place. Returns how it leaves its order; undefined for a change of no order, and of one
 * that ended so long ago that nothing is known of it. A change out of sequence is a broken invariant.
 */
export function applyChange(view: MarketView, change: Change): OrderStand | undefined {
  assert(
    isNextSeq(change.seq, view.seq),
    `${view.market.market}: change ${change.seq} cannot follow ${view.seq}`,
  )
  view.seq = change.seq
  view.atMs = change.atMs
  const stand = standAfter(view, change)
  applyToOrder(view, change, stand)
  const trade = completedTrade(change)
  if (trade !== undefined) recordTrade(view, trade)
  if (change.kind === 'FillReversed') markReversed(view, change.fill.tradeId)
  return stand
}

/** What is known of an order that is live, or ended not long ago. */
export const standOf = (
  { live, settling, ended }: Pick<MarketView, 'live' | 'settling' | 'ended'>,
  orderId: string,
): OrderStand | undefined => live.get(orderId)?.stand ?? settling.get(orderId) ?? ended.get(orderId)

function standAfter(view: MarketView, change: Change): OrderStand | undefined {
  if (change.kind === 'OrderPlaced') {
    const { subaccountId, initialFilled } = change.order
    const { cancelReason, pending } = change
    return { subaccountId, initialFilled, cancelReason, wasMatched: pending > 0n, sums: undefined }
  }
  const before = standOf(view, change.orderId)
  if (before === undefined) return undefined
  const sums = sumsAfter(view.market, change, before.sums)
  const reason = 'cancelReason' in change ? change.cancelReason : undefined
  const cancelReason = before.cancelReason ?? reason
  const wasMatched = before.wasMatched || change.pending > 0n
  const isSame = sums === before.sums && cancelReason === before.cancelReason
  if (isSame && wasMatched === before.wasMatched) return before
  const { subaccountId, initialFilled } = before
  return { subaccountId, initialFilled, cancelReason, wasMatched, sums }
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

function applyToOrder(view: MarketView, change: Change, stand: OrderStand | undefined): void {
  if (!isLiving(change.status)) {
    forget(view, change)
    if (stand !== undefined) keepEnded(view, change, stand)
    return
  }
  const known = view.live.get(change.orderId)
  const { order, rank } = change.kind === 'OrderPlaced' ? change : (known ?? {})
  assert(
    order !== undefined && rank !== undefined && stand !== undefined,
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
    sums: stand.sums,
    stand,
  })
}

function keepEnded(
  { settling, ended }: MarketView,
  { orderId, pending }: Change,
  stand: OrderStand,
): void {
  if (pending > 0n) {
    settling.set(orderId, stand)
    return
  }
  settling.delete(orderId)
  if (!stand.wasMatched && stand.initialFilled === 0n) return
  ended.delete(orderId)
  ended.set(orderId, stand)
  if (ended.size <= ENDED_KEPT) return
  for (const oldest of ended.keys()) {
    ended.delete(oldest)
    return
  }
}

function keep({ live, liveByOwner }: MarketView, kept: ViewedOrder): void {
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
