import type { Account } from './accounts.js'
import type { Address } from './action.js'
import type { Level } from './book.js'
import type { HoldReason } from './change.js'
import { isLiving } from './held-reason.js'
import { EXPIRY_MARGIN_MS } from './matching-limits.js'
import type { AmountE18, PriceE18 } from './money.js'
import { amountE18 } from './money.js'
import type { Order, OrderProgress, OrderStatus, Side } from './order.js'
import type { OwnerOrders } from './owner-orders.js'

/** Why an order rests without being open, and what ends that. */
export interface Hold {
  readonly reason: HoldReason
  /** When time ends it. */
  readonly untilMs?: number
  /** What its account must have available of what it pays with, 1e-18 units. */
  readonly needed?: bigint
}

/**
 * An order while the matcher has to know it: it can still be hit, is held, or has something pending. Every field is
 * always set, to `undefined` if to nothing: one that came or went would change the object's layout and make each
 * access slower.
 */
export interface LiveOrder {
  readonly order: Order
  /** What steps ask of the order, once more: most orders have long left the processor's caches when they are hit. */
  readonly orderId: string
  readonly owner: Address
  readonly nonce: bigint
  readonly side: Side
  readonly limitPrice: PriceE18
  readonly desired: AmountE18
  /** Time priority: number of placement in the market's log. Never changes, whatever happens to the order. */
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
  refusals: number
  firstRefusedAtMs: number
  /** Its account, and its neighbours among the orders of that. */
  readonly account: Account
  previousOfAccount: LiveOrder | undefined
  nextOfAccount: LiveOrder | undefined
  /** All orders of its owner, and its neighbours among them. */
  own: OwnerOrders | undefined
  newerOfOwner: LiveOrder | undefined
  olderOfOwner: LiveOrder | undefined
  /** Place in the book; undefined when nothing of it is open. */
  level: Level | undefined
  previous: LiveOrder | undefined
  next: LiveOrder | undefined
}

/** What an order is placed with. */
interface Placed {
  readonly account: Account
  readonly rank: number
  readonly nowMs: number
}

/** An order that nothing has happened to, and that nobody knows yet. */
export function newLiveOrder(order: Order, { account, rank, nowMs }: Placed): LiveOrder {
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
    refusals: 0,
    firstRefusedAtMs: 0,
    account,
    previousOfAccount: undefined,
    nextOfAccount: undefined,
    own: undefined,
    newerOfOwner: undefined,
    olderOfOwner: undefined,
    level: undefined,
    previous: undefined,
    next: undefined,
  }
}

const NOTHING = amountE18(0n)

/** So much of it is matched now, and awaits settlement. */
export function addPending(live: LiveOrder, amount: AmountE18): void {
  live.pending = amountE18(live.pending + amount)
  live.unmatched = amountE18(live.unmatched - amount)
}

/** So much of what was pending has come to nothing. */
export function returnPending(live: LiveOrder, amount: AmountE18): void {
  live.pending = amountE18(live.pending - amount)
  live.unmatched = amountE18(live.unmatched + amount)
}

/** So much of what was pending is settled. */
export function settlePending(live: LiveOrder, amount: AmountE18): void {
  live.pending = amountE18(live.pending - amount)
  live.filled = amountE18(live.filled + amount)
}

/** So much of it is settled that was not pending; or is not settled any more, when the amount is negative. */
export function addFilled(live: LiveOrder, amount: AmountE18): void {
  live.filled = amountE18(live.filled + amount)
  live.unmatched = amountE18(live.unmatched - amount)
}

/** What can be hit: nothing of an order that is gone or held. */
export function openAmount(live: LiveOrder): AmountE18 {
  return live.gone !== undefined || live.hold !== undefined ? NOTHING : live.unmatched
}

export function statusOf(live: LiveOrder): OrderStatus {
  if (live.gone !== undefined) return live.gone
  if (live.unmatched !== 0n) return 'active'
  return live.pending === 0n ? 'filled' : 'matching'
}

/** The last seconds of its life, in which it is no longer matched. */
export function isExpiring(live: LiveOrder, nowMs: number): boolean {
  return nowMs >= live.order.goodUntilSec * 1000 - EXPIRY_MARGIN_MS
}

export function isExpired(live: LiveOrder, nowMs: number): boolean {
  return nowMs >= live.order.goodUntilSec * 1000
}

/** Whether the matcher may forget the order: nothing open, nothing held, nothing pending. */
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
  // Nearly always none of these is there; spreading what is absent would cost more than all the rest.
  if (live.hold !== undefined && isLiving(status)) progress.heldReason = live.hold.reason
  if (live.cancelReason !== undefined) progress.cancelReason = live.cancelReason
  if (live.cancelledAtMs !== undefined) progress.cancelledAtMs = live.cancelledAtMs
  return progress
}
