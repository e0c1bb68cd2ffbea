import { statusOf, type LiveOrder } from '../model/live-order.js'
import { cancelOrder, markCancelled, type Step } from './emit-change.js'

// What the controls of an order ask of the market: self-trade prevention, time in force. Post-only: post-only.ts.

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
