import type { Account } from '../engine/accounts.js'
import type { CancelsAnswer } from '../engine/cancel-many.js'
import type { LeaseAnswer, LeaseRefused } from '../engine/leases.js'
import type { POST_ONLY_WOULD_CROSS } from '../engine/post-only.js'
import type { MatcherState } from '../engine/state.js'
import type { AmountE18 } from '../money.js'
import { REFUSED_ORDERS_MAX } from './limits.js'
import { progressOf, type LiveOrder } from './live-order.js'
import type { MarketTerms } from './market-terms.js'
import type { Order, OrderProgress } from './order.js'

/** Code of the refusal of an order whose account has as many live orders as the market's rules allow. */
export const OPEN_ORDER_LIMIT = 'open_order_limit'

/** Code of the refusal of an order that code has signed, whose owner has as many live orders as may wait for its window. */
export const SIGNER_ORDER_LIMIT = 'signer_order_limit'

/** Code of the refusal of a command of which the step could not derive what it needs. */
export const COMMAND_REFUSED = 'command_refused'

/** Why the market refused an order that was in its log: it made no change, and its id and nonce are used. */
export type RefusedByMarket =
  | typeof POST_ONLY_WOULD_CROSS
  | typeof OPEN_ORDER_LIMIT
  | typeof SIGNER_ORDER_LIMIT
  | 'active_order_not_found'
  | 'replacement_differs'
  | 'replacement_too_small'
  | 'replacement_ends'
  | typeof COMMAND_REFUSED

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

/** An order and where it stands. */
export interface StandingOrder {
  readonly order: Order
  readonly progress: OrderProgress
}

/** What the market answers to the sender of a command; the shell gives a refusal its words. */
export type CommandAnswer =
  | ({
      readonly kind: 'order'
      /** The order that it has replaced. */
      readonly replaced?: StandingOrder
    } & StandingOrder)
  | { readonly kind: 'market'; readonly terms: MarketTerms }
  | CancelsAnswer
  | LeaseAnswer
  | RefusedCommand

export type RefusedCommand =
  | {
      readonly kind: 'refused'
      readonly code: RefusedOrder
      /** The order that a repeat has repeated. */
      readonly repeated?: string
    }
  | {
      readonly kind: 'refused'
      readonly code: 'reduction_too_small' | 'reduction_not_smaller'
      /** What is filled and pending of the order, or what it asks for now. */
      readonly amount: AmountE18
    }

export type RefusedOrder =
  RefusedByMarket | 'duplicate_order_id' | 'duplicate_nonce' | LeaseRefused['code']

/** The order as it stands now. */
export const standingOrder = (live: LiveOrder): StandingOrder => ({
  order: live.order,
  progress: progressOf(live),
})

/** Answers with the order as it stands now. */
export const answerOrder = (live: LiveOrder): CommandAnswer => ({
  kind: 'order',
  order: live.order,
  progress: progressOf(live),
})
