import type { LiveOrder } from './live-order.js'

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
