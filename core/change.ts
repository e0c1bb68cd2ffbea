import type { Address, Hex } from './action.js'
import type { AmountE18, PriceE18, QuoteE18 } from './money.js'
import type { Order, OrderStatus, Side } from './order.js'

/** A proposed match: one maker, one taker, one settlement (decision B16). */
export interface Match {
  /** `<market>:<seq of the counterpart's change>`: unique for ever, sent as Idempotency-Key. */
  readonly settlementId: string
  readonly makerOrderId: string
  readonly takerOrderId: string
  /** The maker's limit price. */
  readonly price: PriceE18
  readonly amount: AmountE18
  /** Taker's total fee in quote; the maker pays none. */
  readonly takerFee: QuoteE18
}

/** A settled match as one of its two orders sees it. */
export interface Fill extends Match {
  readonly liquidity: 'maker' | 'taker'
  /** Total fee this order paid, in quote. */
  readonly fee: QuoteE18
  readonly txHash: Hex
  readonly blockNumber: bigint
  /** Taker's seq × 256 + the market's ordinal (decision D4); the same on both legs. */
  readonly tradeId: number
  /** Where the maker was on the engine's side of the book is the opposite of this. */
  readonly takerSide: Side
}

/** Why an order rests without being in the visible book. */
export type HoldReason =
  | 'signature_unchecked'
  | 'settlement_refused'
  | 'expiring'
  | 'continuing'
  /** Its account, as the chain was last seen, cannot pay for it. */
  | 'insufficient_balance'
  /** The matching contract does not hold its account for its owner, or is about to give it back. */
  | 'not_in_custody'

/** What each change says about its order, whatever its kind: the state after the change. */
export interface ChangeBase {
  /** Position in the market's sequence of changes, from 1 without gaps (decision A1). */
  readonly seq: number
  /** Market time of the change, unix milliseconds. */
  readonly atMs: number
  readonly orderId: string
  readonly owner: Address
  readonly side: Side
  readonly limitPrice: PriceE18
  readonly desired: AmountE18
  readonly filled: AmountE18
  readonly pending: AmountE18
  readonly open: AmountE18
  /** How `open` moved, signed: the book's `size_delta`. */
  readonly openDelta: bigint
  readonly status: OrderStatus
}

/** What kind of change it was, and what only that kind says. */
export type ChangeFacts =
  | {
      readonly kind: 'OrderPlaced'
      readonly order: Order
      /** Time priority: the order's number in the market's log of placements. */
      readonly rank: number
      readonly hold?: HoldReason
      readonly cancelReason?: string
    }
  /** A resting order was hit: `match` awaits settlement. */
  | { readonly kind: 'OrderMatched'; readonly match: Match }
  | { readonly kind: 'OrderFilled'; readonly fill: Fill }
  /** A settlement failed; what had been pending is open again, or held, or gone with the order. */
  | {
      readonly kind: 'MatchReverted'
      readonly settlementId: string
      readonly revert: string
      readonly hold?: HoldReason
      readonly cancelReason?: string
    }
  /**
   * The chain has lost a settled match for good: `fill` is what was told of this order's leg, and counts no longer. An
   * order that was filled is cancelled by it, any other that had ended stays as it ended.
   */
  | {
      readonly kind: 'FillReversed'
      readonly fill: Fill
      /** Why: the revert's name, or `not_carried_out`. */
      readonly revert: string
      readonly hold?: HoldReason
      readonly cancelReason?: string
    }
  | { readonly kind: 'OrderHeld'; readonly hold: HoldReason }
  /** A hold ended; the order came back as if it were incoming, and may have matched or stopped at once. */
  | { readonly kind: 'OrderReleased'; readonly hold?: HoldReason; readonly cancelReason?: string }
  | { readonly kind: 'OrderCancelled'; readonly cancelReason: string }
  | { readonly kind: 'OrderExpired' }

/** One state change of one order. Changes are facts in the past tense. */
export type Change = ChangeBase & ChangeFacts

export type ChangeKind = Change['kind']

/**
 * All changes that one command message made to a market, published as one message so that it cannot be torn.
 * Which commands share a block follows from the log alone, so that replaying it gives the same bytes.
 */
export interface Block {
  readonly market: string
  /** Stream sequence of the command message and the index of the last command in it that this block covers. */
  readonly commandSeq: number
  readonly commandIndex: number
  readonly firstSeq: number
  /** Empty only beside a `leader`. */
  readonly changes: readonly Change[]
  /** The matcher that takes the market over with this block; whoever wrote before is fenced out by it. */
  readonly leader?: Leader
}

/** One term of one process as a market's matcher. */
export interface Leader {
  /** Counts the terms; greater than any before. */
  readonly term: number
  /** Tells processes apart that take the same term at once; of them one gets it. */
  readonly id: string
}
