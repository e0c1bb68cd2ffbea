import { priceE18, type PriceE18 } from '../money.js'
import { deadlineMs } from '../time.js'
import { bestOf } from './book.js'
import { cancelOrder, markCancelled, type Step } from './emit-change.js'
import { EXPIRY_MARGIN_MS, LIVE_ORDERS_MAX } from './limits.js'
import { statusOf, type LiveOrder } from './live-order.js'
import type { Order, Side } from './order.js'
import type { MatcherState } from './state.js'

// What the controls of an order ask of the market: post-only, self-trade prevention, time in force.

/** Code of the refusal, and `cancel_reason` of an order that would be the taker of a match after all. */
export const POST_ONLY_WOULD_CROSS = 'post_only_would_cross'

/**
 * A new order as the market books it. A post-only order that crosses the best visible order of the other side is booked one
 * tick behind that, if it asks for it; undefined when the market refuses it. An order that ends or waits hidden when it
 * comes takes nothing now, and stays as it is.
 */
export function bookedOrder(state: MatcherState, order: Order): Order | undefined {
  const { postOnly, side, limitPrice } = order
  if (postOnly === undefined || !mayMatch(state, order)) return order
  const touch = touchOf(state, side, limitPrice)
  if (touch === undefined) return order
  const booked = behind(touch, side, state.rules.tickSize)
  if (postOnly === 'reject' || booked <= 0n) return undefined
  return { ...order, limitPrice: priceE18(booked), signedLimitPrice: limitPrice }
}

function mayMatch(state: MatcherState, order: Order): boolean {
  const { enabled, nowMs, orders } = state
  const isChecked = order.signatureStatus === 'checked'
  const isOpen = order.initialFilled < order.desiredAmount
  const isInTime = nowMs < deadlineMs(order.goodUntilSec) - EXPIRY_MARGIN_MS
  const hasRoom = orders.size < LIVE_ORDERS_MAX || order.replaces !== undefined
  return enabled && isChecked && isOpen && isInTime && hasRoom
}

/** The best visible price of the other side, if an order with this limit crosses it; also while nothing may cross. */
function touchOf({ book }: MatcherState, side: Side, limit: PriceE18): PriceE18 | undefined {
  const price = bestOf(book, side === 'buy' ? 'sell' : 'buy')?.limitPrice
  if (price === undefined) return undefined
  const crosses = side === 'buy' ? limit >= price : limit <= price
  return crosses ? price : undefined
}

/** The next price on the tick that does not cross; rounded away from the touch. */
const behind = (touch: PriceE18, side: Side, tick: bigint): bigint =>
  side === 'buy' ? ((touch - 1n) / tick) * tick : (touch / tick + 1n) * tick

/** `cancel_reason` of an order that left because it met an own one. */
export const SELF_TRADE = 'self_trade'

/**
 * Whether two orders may not trade with each other: orders of one account, which the chain refuses, and orders of one
 * owner where either of the two asks for that.
 */
export function areOwn(one: LiveOrder, other: LiveOrder): boolean {
  if (one.account === other.account) return true
  if (one.own !== other.own) return false
  return one.order.stpScope !== undefined || other.order.stpScope !== undefined
}

/** Whether the coming order goes on where it meets an own one, which leaves instead. */
export const outlastsOwn = ({ order }: LiveOrder): boolean => order.stp === 'cancel_oldest'

/** `cancel_reason` of what an IOC order could not match at once. */
const IOC_REMAINDER = 'ioc_remainder'
/** `cancel_reason` of a FOK order that could not be matched whole. */
export const FOK_UNFILLABLE = 'fok_unfillable'
/** `cancel_reason` of what a failed settlement would have returned to an IOC or FOK order. */
export const SETTLEMENT_FAILED = 'settlement_failed'

/** Whether the order matches when it comes and never rests: IOC or FOK. */
export const isImmediate = ({ order }: LiveOrder): boolean => order.timeInForce !== undefined

/**
 * Cancels what is left of an IOC or FOK order that has just met the book: nothing of it rests or waits. A sweep that goes
 * on by ContinueOrder goes on; an IOC order that waits for room in its signer's window goes on too. The reason is that of its
 * hold, if it has one. Emits nothing.
 */
export function endImmediate(step: Step, live: LiveOrder): void {
  const { hold, order } = live
  if (!isImmediate(live) || live.gone !== undefined || live.unmatched === 0n) return
  const continues = hold?.reason === 'continuing'
  if (continues && hold.untilMs === undefined) return
  const waits = hold?.reason === 'signer_waits'
  if (waits && order.timeInForce === 'IOC') return
  const unmatched = order.timeInForce === 'FOK' ? FOK_UNFILLABLE : IOC_REMAINDER
  markCancelled(step, live, hold === undefined || continues || waits ? unmatched : hold.reason)
}

/** Cancels what is left of an order whose last seconds have begun, if it is IOC or FOK; true when it was. */
export function endExpiring(step: Step, live: LiveOrder): boolean {
  if (!isImmediate(live) || statusOf(live) !== 'active') return false
  cancelOrder(step, live, 'expiring')
  return true
}
