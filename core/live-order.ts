import type { HoldReason } from './change.js'
import type { AmountE18 } from './money.js'
import { amountE18 } from './money.js'
import type { Order, OrderProgress, OrderStatus } from './order.js'
import type { Level } from './book.js'
import { isLiving } from './held-reason.js'
import { EXPIRY_MARGIN_MS } from './matching-limits.js'

/** Why an order rests without being open, and what ends that. */
export interface Hold {
  readonly reason: HoldReason
  /** When time ends it. */
  readonly untilMs?: number
  /** What its account must have available of what it pays with, 1e-18 units. */
  readonly needed?: bigint
}

/** An order while the matcher has to know it: it can still be hit, is held, or has something pending. */
export interface LiveOrder {
  readonly order: Order
  /** Time priority: number of placement in the market's log. Never changes, whatever happens to the order. */
  readonly rank: number
  readonly createdAtMs: number
  updatedAtMs: number
  filled: AmountE18
  pending: AmountE18
  /** What the book showed of it after its last change. */
  shownOpen: AmountE18
  /** Set once the order will never be hit again, whatever is still pending. */
  gone?: 'cancelled' | 'expired'
  cancelReason?: string
  cancelledAtMs?: number
  hold?: Hold
  refusals: number
  firstRefusedAtMs: number
  /** Place in the book; undefined when nothing of it is open. Always set: deleting would make the object a slow one. */
  level: Level | undefined
  previous: LiveOrder | undefined
  next: LiveOrder | undefined
}

export function newLiveOrder(order: Order, rank: number, nowMs: number): LiveOrder {
  return {
    order,
    rank,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    filled: order.initialFilled,
    pending: amountE18(0n),
    shownOpen: amountE18(0n),
    refusals: 0,
    firstRefusedAtMs: 0,
    level: undefined,
    previous: undefined,
    next: undefined,
  }
}

/** What is neither settled nor awaiting settlement. */
export function unmatched(live: LiveOrder): AmountE18 {
  return amountE18(live.order.desiredAmount - live.filled - live.pending)
}

/** What can be hit: nothing of an order that is gone or held. */
export function openAmount(live: LiveOrder): AmountE18 {
  return live.gone !== undefined || live.hold !== undefined ? amountE18(0n) : unmatched(live)
}

export function statusOf(live: LiveOrder): OrderStatus {
  if (live.gone !== undefined) return live.gone
  if (live.filled === live.order.desiredAmount) return 'filled'
  return unmatched(live) === 0n ? 'matching' : 'active'
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
  return live.pending === 0n && (live.gone !== undefined || statusOf(live) === 'filled')
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
