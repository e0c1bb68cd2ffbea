import type { AccountObservation } from './account.js'
import type { Address, Hex } from './action.js'
import type { Match } from './change.js'
import type { AmountE18, PriceE18 } from './money.js'
import type { Order, OrderStatus, Side } from './order.js'

/**
 * Everything that may change a market. Commands are imperatives; time and the answers of the outside world arrive
 * inside them, so that folding a market's log needs nothing but the log.
 */
export type Command =
  | {
      readonly kind: 'PlaceOrder'
      readonly order: Order
      /** The order's subaccount as it was read when the order came; absent when the chain could not be read. */
      readonly account?: AccountObservation
    }
  | {
      readonly kind: 'CancelOrder'
      readonly owner: Address
      readonly nonce: bigint
      readonly reason: string
    }
  /** Carries only time: expires orders, releases held ones. */
  | { readonly kind: 'Tick' }
  /** A sweep that stopped at the limit of makers per step goes on (decision B17). */
  | { readonly kind: 'ContinueOrder'; readonly orderId: string }
  /** What the chain says about an order's signature after its submission: asked late, or asked again (decision C9). */
  | { readonly kind: 'SignatureChecked'; readonly orderId: string; readonly valid: boolean }
  /** What a subaccount with orders has on the chain now, from the one reader that follows it there. */
  | { readonly kind: 'AccountObserved'; readonly account: AccountObservation }
  | {
      readonly kind: 'SettlementReported'
      readonly settlementId: string
      readonly outcome: SettlementOutcome
    }
  /** What was told of a settlement is not true any more, and cannot become so again. */
  | { readonly kind: 'SettlementReversed'; readonly reversal: SettlementReversal }
  /** Of the executor's reversals up to this number none is left to be dealt with. */
  | { readonly kind: 'ReversalsRead'; readonly upTo: number }

/** The closed union of decision B5; `unknown` is no outcome and never enters the log. */
export type SettlementOutcome =
  | { readonly kind: 'success'; readonly txHash: Hex; readonly blockNumber: bigint }
  | {
      readonly kind: 'reverted'
      /** Name of the on-chain revert, or of the venue's own refusal to send. */
      readonly revert: string
      /** Whose fault it was; `both` when it could not be told apart. */
      readonly guilty: 'maker' | 'taker' | 'both'
      /** Absent when the simulation already failed and nothing was sent. */
      readonly txHash?: Hex
    }

/**
 * A settlement whose outcome the chain has changed, with all that the step needs of it: the market forgets matches with
 * their outcome and orders with their end.
 */
export interface SettlementReversal {
  /** The executor's number of it: applied once. */
  readonly no: number
  readonly match: Match
  readonly maker: ReversedLeg
  readonly taker: ReversedLeg
  readonly now:
    | { readonly kind: 'success'; readonly txHash: Hex; readonly blockNumber: bigint }
    | { readonly kind: 'reverted'; readonly revert: string; readonly told: ToldFill }
}

/** Where the feed said that a match was settled, and as which trade. */
export interface ToldFill {
  readonly txHash: Hex
  readonly blockNumber: bigint
  readonly tradeId: number
}

/** An order of a reversed settlement. */
export interface ReversedLeg {
  readonly orderId: string
  readonly owner: Address
  readonly side: Side
  readonly limitPrice: PriceE18
  readonly desired: AmountE18
  /** How the order stands, once it has ended and nothing of it is pending; absent while the market knows it. */
  readonly ended?: { readonly status: OrderStatus; readonly filled: AmountE18 }
}

/** A command as it stands in the log: who wrote it, in which place of that writer's own count, and when. */
export interface LoggedCommand {
  /** Writer, for example `intake` or `matcher`. */
  readonly source: string
  /** Increases by one or more with each command of the source; the matcher skips what it has seen. */
  readonly sourceNo: number
  /** The writer's clock, unix milliseconds. Market time is the greatest seen in the log. */
  readonly atMs: number
  /** Where the matcher's shell sends the answer; no part of the state machine's input. */
  readonly replyTo?: string
  readonly requestId?: string
  readonly command: Command
}
