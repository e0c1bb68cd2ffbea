import type { Account } from './accounts.js'
import { REFUSED_ORDERS_MAX } from './limits.js'
import type { POST_ONLY_WOULD_CROSS } from './post-only.js'
import type { MatcherState } from './state.js'

/** Code of the refusal of an order whose account has as many live orders as the market's rules allow. */
export const OPEN_ORDER_LIMIT = 'open_order_limit'

/** Why the market refused an order that was in its log: it made no change, and its id and nonce are used. */
export type RefusedByMarket =
  | typeof POST_ONLY_WOULD_CROSS
  | typeof OPEN_ORDER_LIMIT
  | 'active_order_not_found'
  | 'replacement_differs'
  | 'replacement_too_small'
  | 'replacement_ends'

/**
 * Whether a further order of the account would be one too many, after so many others have left. An order counts while
 * anything of it is open, held or pending.
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
