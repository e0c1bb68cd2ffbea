import type { RefusedByMarket } from '../model/command-answer.js'
import { REFUSED_ORDERS_MAX } from '../model/limits.js'
import type { Account } from '../model/live-order.js'
import type { MatcherState } from './state.js'

/**
 * Whether a further order of the account exceeds `open_order_limit` after `leaving` of its orders have ended. An order counts
 * while anything of it is open, held or pending (MAT-014).
 */
export function isOneTooMany({ rules }: MatcherState, { orders }: Account, leaving = 0): boolean {
  const { openOrderLimit = 0 } = rules
  return openOrderLimit > 0 && orders.size - leaving >= openOrderLimit
}

/** Remembers a refused order for a repeat of it, and forgets the oldest beyond the bound. */
export function rememberRefused(
  { refusedOrders }: MatcherState,
  orderId: string,
  code: RefusedByMarket,
): void {
  refusedOrders.set(orderId, code)
  if (refusedOrders.size <= REFUSED_ORDERS_MAX) return
  for (const oldest of refusedOrders.keys()) {
    refusedOrders.delete(oldest)
    return
  }
}
