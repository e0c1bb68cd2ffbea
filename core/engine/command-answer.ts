import type { MarketTerms } from '../contracts/market-terms.js'
import type { AmountE18 } from '../money.js'
import type { CancelsAnswer } from './cancel-many.js'
import type { LeaseAnswer, LeaseRefused } from './leases.js'
import { progressOf, type LiveOrder } from './live-order.js'
import type { Order, OrderProgress } from './order.js'
import type { RefusedByMarket } from './refused-orders.js'

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
