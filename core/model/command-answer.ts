import type { AmountE18 } from '../money.js'
import { progressOf, type LiveOrder } from './live-order.js'
import type { MarketTerms } from './market-terms.js'
import type { Order, OrderProgress } from './order.js'

/** Code of the refusal of an order whose account has as many live orders as the market's rules allow. */
export const OPEN_ORDER_LIMIT = 'open_order_limit'

/** Code of the refusal of an order that code has signed, whose owner has as many live orders as may wait for its window. */
export const SIGNER_ORDER_LIMIT = 'signer_order_limit'

/** Code of the refusal of a command of which the step could not derive what it needs. */
export const COMMAND_REFUSED = 'command_refused'

/** Code of the refusal, and `cancel_reason` of an order that would be the taker of a match after all. */
export const POST_ONLY_WOULD_CROSS = 'post_only_would_cross'

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
  | CancelsCommandAnswer
  | LeaseCommandAnswer
  | RefusedCommand

/** What became of one order of a cancel. */
export type CancelOutcome =
  /** What was open is cancelled; `pending` still settles. */
  | ({ readonly kind: 'cancelled' } & OrderAmounts)
  /** Nothing was open; what a failed settlement would return is cancelled. */
  | ({ readonly kind: 'settling' } & OrderAmounts)
  | {
      readonly kind: 'not_cancelled'
      readonly orderId: string
      readonly code: 'active_order_not_found' | 'order_of_another_owner'
    }

interface OrderAmounts {
  readonly orderId: string
  readonly nonce: bigint
  readonly filled: AmountE18
  readonly pending: AmountE18
}

/** Answer to a cancel of many orders. */
export interface CancelsCommandAnswer {
  readonly kind: 'cancels'
  readonly outcomes: readonly CancelOutcome[]
  /** Orders that the next steps cancel; they are not matched meanwhile. */
  readonly left: number
}

/** Answer to a lease that was set; `endsAtMs` is 0 when there is none any more. */
export interface LeaseCommandAnswer {
  readonly kind: 'lease'
  readonly endsAtMs: number
}

export interface LeaseRefused {
  readonly kind: 'refused'
  readonly code: 'lease_ended' | 'too_many_leases'
}

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
