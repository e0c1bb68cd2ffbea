import { amountE18 } from '../money.js'
import { whyCancelled } from './cancel-many.js'
import { isOfEndedLease } from './leases.js'
import { LIVE_ORDERS_MAX } from './limits.js'
import { isExpired, statusOf, type LiveOrder } from './live-order.js'
import type { Order } from './order.js'
import type { RefusedByMarket } from './refused-orders.js'
import type { MatcherState } from './state.js'

/** `cancel_reason` of an order that another one has replaced. */
export const REPLACED = 'replaced'

/**
 * The active order of the new order's owner that it replaces, or why it does not: both must be of one subaccount and one
 * side, and the new one must ask for more than is settled or matched of the old one.
 */
export function findReplaced(
  state: MatcherState,
  { owner, subaccountId, side, desiredAmount }: Order,
  nonce: bigint,
): LiveOrder | RefusedByMarket {
  const old = state.owners.get(owner)?.get(nonce)
  if (old === undefined || statusOf(old) !== 'active') return 'active_order_not_found'
  if (whyCancelled(state, old) !== undefined) return 'active_order_not_found'
  if (old.order.subaccountId !== subaccountId || old.side !== side) return 'replacement_differs'
  return desiredAmount > old.filled + old.pending ? old : 'replacement_too_small'
}

/** The new order with what is settled or matched of the old one counted as filled: only the rest opens. */
export const asReplacement = (order: Order, { filled, pending, orderId }: LiveOrder): Order => ({
  ...order,
  initialFilled: amountE18(filled + pending),
  replaces: orderId,
})

/** Why the new order would end with its placement, whatever the book holds; the old one then stays. */
export function whyEndsAtOnce(
  state: MatcherState,
  live: LiveOrder,
  old: LiveOrder,
): RefusedByMarket | undefined {
  const { nowMs, enabled, orders } = state
  const { means } = state.trading
  if (isOfEndedLease(state, live.order)) return 'replacement_ends'
  const isFull = orders.size >= LIVE_ORDERS_MAX && old.pending > 0n
  const isPointless = means.endOf?.(live.account.purse, live) !== undefined
  return isExpired(live, nowMs) || !enabled || isFull || isPointless
    ? 'replacement_ends'
    : undefined
}
