import type { Address } from '../action.js'
import { amountE18, type AmountE18, type PriceE18 } from '../money.js'
import { deadlineMs } from '../time.js'
import type { Hold, EndReason } from './hold.js'
import { EXPIRY_MARGIN_MS } from './limits.js'
import type { RiskAccount, AccountObservation } from './observation.js'
import { isLiving, type Order, type OrderProgress, type OrderStatus, type Side } from './order.js'

/** Live orders of one owner, by nonce. */
export type OwnerOrders = Map<bigint, LiveOrder>

/**
 * An order that is not final: it can still be hit, is held, or has something pending. Every field is
 * always set, if need be to `undefined`: a field added later would change the object's layout and slow each access.
 */
export interface LiveOrder {
  /**
   * As it was placed, except that its `signatureStatus` becomes `checked` once it was, for its desired amount, and that its signer
   * may turn out to be code.
   */
  order: Order
  /** Copies of what each step reads: an order that is hit has usually left the processor's caches. */
  readonly orderId: string
  readonly owner: Address
  readonly nonce: bigint
  readonly side: Side
  readonly limitPrice: PriceE18
  /** Changes only when the order is reduced, or grows again by a late fill. */
  desired: AmountE18
  /** Time priority: number of placement in the market's log. Never changes. */
  readonly rank: number
  readonly createdAtMs: number
  updatedAtMs: number
  filled: AmountE18
  pending: AmountE18
  /** What is neither settled nor awaiting settlement. Follows from the other two. */
  unmatched: AmountE18
  /** What the book showed of it after its last change. */
  shownOpen: AmountE18
  /** Set once the order will never be hit again, whatever is still pending. */
  gone: 'cancelled' | 'expired' | undefined
  cancelReason: string | undefined
  cancelledAtMs: number | undefined
  hold: Hold | undefined
  /** Why what a settlement would return is cancelled, since the order was cancelled while it settled. */
  cancelOnReturn: EndReason | undefined
  refusals: number
  firstRefusedAtMs: number
  /** Unix milliseconds at which it ends by itself: at its expiry, or with the session key that signed it. */
  endsAtMs: number
  readonly account: Account
  /** The live orders of its owner. */
  readonly own: OwnerOrders
  /** Place in the book; undefined when nothing of it is open. */
  level: PriceQueue | undefined
  previous: LiveOrder | undefined
  next: LiveOrder | undefined
}

/** The state of a subaccount that has, or lately had, orders in the market. */
export interface Account {
  readonly subaccountId: bigint
  /** The newest observation; absent while the account has not been read. */
  observed: AccountObservation | undefined
  /** What the account has and has reserved, kept by the market's contract. */
  readonly riskAccount: RiskAccount
  /** The account's live orders, by placement. */
  readonly orders: Set<LiveOrder>
  /** Orders that may wait for the account to change; whether one still does follows from its hold. */
  readonly waiting: Set<LiveOrder>
}

/** All orders of one side at one price, first in first out by rank. */
export interface PriceQueue {
  readonly price: PriceE18
  first: LiveOrder
  last: LiveOrder
}

/** Whose a new order is. */
export interface Parents {
  readonly account: Account
  /** The live orders of its owner. */
  readonly own: OwnerOrders
}

/** What an order is placed with. */
interface PlacedParents extends Parents {
  readonly rank: number
  readonly nowMs: number
}

/** An order to which nothing has happened yet. */
export function newLiveOrder(
  order: Order,
  { account, own, rank, nowMs }: PlacedParents,
): LiveOrder {
  const { desiredAmount, initialFilled } = order
  return {
    order,
    orderId: order.orderId,
    owner: order.owner,
    nonce: order.nonce,
    side: order.side,
    limitPrice: order.limitPrice,
    desired: desiredAmount,
    rank,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    filled: initialFilled,
    pending: NOTHING,
    unmatched: initialFilled === 0n ? desiredAmount : amountE18(desiredAmount - initialFilled),
    shownOpen: NOTHING,
    gone: undefined,
    cancelReason: undefined,
    cancelledAtMs: undefined,
    hold: undefined,
    cancelOnReturn: undefined,
    refusals: 0,
    firstRefusedAtMs: 0,
    endsAtMs: deadlineMs(order.goodUntilSec),
    account,
    own,
    level: undefined,
    previous: undefined,
    next: undefined,
  }
}

const NOTHING = amountE18(0n)

/** Moves an amount from unmatched to pending: it is matched and awaits settlement. */
export function addPending(live: LiveOrder, amount: AmountE18): void {
  live.pending = amountE18(live.pending + amount)
  live.unmatched = amountE18(live.unmatched - amount)
}

/** Moves an amount from pending back to unmatched: its settlement failed. */
export function returnPending(live: LiveOrder, amount: AmountE18): void {
  live.pending = amountE18(live.pending - amount)
  live.unmatched = amountE18(live.unmatched + amount)
}

/** Moves an amount from pending to filled: it is settled. */
export function settlePending(live: LiveOrder, amount: AmountE18): void {
  live.pending = amountE18(live.pending - amount)
  live.filled = amountE18(live.filled + amount)
}

/** Moves an amount from unmatched to filled; a negative one is a fill taken back. */
export function addFilled(live: LiveOrder, amount: AmountE18): void {
  live.filled = amountE18(live.filled + amount)
  live.unmatched = amountE18(live.unmatched - amount)
}

/** The amount that can be hit: zero when the order has ended or is held. */
export function openAmount(live: LiveOrder): AmountE18 {
  return live.gone !== undefined || live.hold !== undefined ? NOTHING : live.unmatched
}

export function statusOf(live: LiveOrder): OrderStatus {
  if (live.gone !== undefined) return live.gone
  if (live.unmatched !== 0n) return 'active'
  return live.pending === 0n ? 'filled' : 'matching'
}

/** Notes when the session key that signed the order ends, unix seconds. */
export function endWithKey(live: LiveOrder, keyEndsSec: number): void {
  live.endsAtMs = deadlineMs(Math.min(keyEndsSec, live.order.goodUntilSec))
}

/** Whether the session key that signed the order ends before the order does. */
export const endsWithKey = ({ order, endsAtMs }: LiveOrder): boolean =>
  endsAtMs < deadlineMs(order.goodUntilSec)

/** Whether the order is in its last seconds, in which it is no longer matched (MAT-034). */
export function isExpiring(live: LiveOrder, nowMs: number): boolean {
  return nowMs >= live.endsAtMs - EXPIRY_MARGIN_MS
}

export function isExpired(live: LiveOrder, nowMs: number): boolean {
  return nowMs >= live.endsAtMs
}

/** Whether the matcher may drop the order: nothing open, nothing held, nothing pending. */
export function isFinished(live: LiveOrder): boolean {
  return live.pending === 0n && (live.gone !== undefined || live.unmatched === 0n)
}

export function progressOf(live: LiveOrder): OrderProgress {
  const status = statusOf(live)
  const progress: { -readonly [Key in keyof OrderProgress]: OrderProgress[Key] } = {
    status,
    filled: live.filled,
    pending: live.pending,
    open: openAmount(live),
    createdAtMs: live.createdAtMs,
    updatedAtMs: live.updatedAtMs,
  }
  // Usually none of these is set; conditional spreads would cost more than the rest of the function.
  if (live.hold !== undefined && isLiving(status)) progress.heldReason = live.hold.reason
  if (live.cancelReason !== undefined) progress.cancelReason = live.cancelReason
  if (live.cancelledAtMs !== undefined) progress.cancelledAtMs = live.cancelledAtMs
  return progress
}
