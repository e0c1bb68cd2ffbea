import type { Step } from './emit-change.js'
import { cancelOrder, markCancelled } from './emit-change.js'
import { isExpiring, statusOf, type LiveOrder } from './live-order.js'

/** `cancel_reason` of what an IOC order could not match at once. */
export const IOC_REMAINDER = 'ioc_remainder'
/** `cancel_reason` of a FOK order that could not be matched whole. */
export const FOK_UNFILLABLE = 'fok_unfillable'
/** `cancel_reason` of what a failed settlement would have returned to an IOC or FOK order. */
export const SETTLEMENT_FAILED = 'settlement_failed'

/** Whether the order matches when it comes and never rests: IOC or FOK. */
export const isImmediate = ({ order }: LiveOrder): boolean => order.timeInForce !== undefined

/**
 * Cancels what is left of an IOC or FOK order that has just met the book: nothing of it rests or waits. A sweep that goes
 * on by ContinueOrder goes on. The reason is that of its hold, if it has one. Emits nothing.
 */
export function endImmediate(step: Step, live: LiveOrder): void {
  const { hold, order } = live
  if (!isImmediate(live) || live.gone !== undefined || live.unmatched === 0n) return
  const continues = hold?.reason === 'continuing'
  if (continues && hold.untilMs === undefined) return
  const unmatched = order.timeInForce === 'FOK' ? FOK_UNFILLABLE : IOC_REMAINDER
  markCancelled(step, live, hold === undefined || continues ? unmatched : hold.reason)
}

/** Cancels the rest of an IOC or FOK order whose last seconds have begun; true when there was one. */
export function endExpiring(step: Step, live: LiveOrder): boolean {
  if (!isImmediate(live) || statusOf(live) !== 'active') return false
  if (!isExpiring(live, step.state.nowMs)) return false
  cancelOrder(step, live, 'expiring')
  return true
}
