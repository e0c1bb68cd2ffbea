import type { Address, Hex } from '../action.js'
import { assert } from '../assert.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../money.js'
import type { CloseOut } from './close-out.js'
import type { MarketOpening, MarketRules } from './market-terms.js'
import type { Match, PublishedFill, Blame } from './match.js'
import type { MarketObservation, AccountObservation } from './observation.js'
import type { Order, OrderStatus, Side } from './order.js'

/**
 * Everything that may change a market. Commands are imperatives; time and results from outside arrive
 * inside them, so that a fold of the log needs nothing else.
 */
export type Command =
  /** The first command of every log: the market as the register stated it. */
  | { readonly kind: 'MarketOpened'; readonly opening: MarketOpening }
  | MarketCommand
  | {
      readonly kind: 'PlaceOrder'
      readonly order: Order
      /** The order's subaccount as read at intake; absent when the chain could not be read. */
      readonly account?: AccountObservation
      /** Nonce of the owner's order that leaves in the same step, if this one can be placed. */
      readonly replaces?: bigint
    }
  /** A placement that may have been refused by the book was sent again; it gets the same answer. */
  | { readonly kind: 'RepeatOrder'; readonly orderId: string; readonly by: RepeatedBy }
  | {
      readonly kind: 'CancelOrder'
      readonly owner: Address
      readonly nonce: bigint
      readonly reason: string
    }
  /** Shrinks an order in place. */
  | {
      readonly kind: 'ReduceOrder'
      readonly owner: Address
      readonly nonce: bigint
      /** What it is to ask for in all; 0 cancels it. */
      readonly desired: AmountE18
      /** Of the cancel, where nothing stays open. */
      readonly reason: string
    }
  /** All orders of an owner that the market knows, or those of one side or subaccount. */
  | {
      readonly kind: 'CancelAll'
      readonly owner: Address
      readonly side?: Side
      readonly subaccountId?: bigint
      readonly reason: string
    }
  /** The named orders of an owner, each for itself. */
  | {
      readonly kind: 'CancelOrders'
      readonly owner: Address
      readonly orderIds: readonly string[]
      readonly reason: string
    }
  /**
   * Lets the orders that name `leaseId`, or all of the owner without one, be cancelled unless it is set again within so many
   * seconds of market time. `opens`: also when there is none.
   */
  | {
      readonly kind: 'SetLease'
      readonly owner: Address
      readonly leaseId?: string
      readonly seconds: number
      readonly opens: boolean
    }
  /** Ends a lease before its time, with a cancel of its orders or without. */
  | {
      readonly kind: 'EndLease'
      readonly owner: Address
      readonly leaseId?: string
      readonly cancels: boolean
    }
  /** Carries only time: expires orders, releases held ones. */
  | { readonly kind: 'Tick' }
  /** Continues a sweep that stopped at the limit of makers per step (MAT-011). */
  | { readonly kind: 'ContinueOrder'; readonly orderId: string }
  /** The result of a signature check after submission, the first or a repeated one (AUT-011). */
  | {
      readonly kind: 'SignatureChecked'
      readonly orderId: string
      readonly valid: boolean
      /** The signer is code, and the order may not say so yet. */
      readonly byCode?: true
    }
  /** When the session key that signed the order ends on the chain, unix seconds. */
  | { readonly kind: 'SessionKeyObserved'; readonly orderId: string; readonly endsSec: number }
  /** What the chain reader observed of a subaccount with live orders. */
  | { readonly kind: 'AccountObserved'; readonly account: AccountObservation }
  /** What the chain reader observed of the market. */
  | { readonly kind: 'MarketObserved'; readonly observation: MarketObservation }
  /** Positions that the chain has closed. The market keeps none, so that it takes nothing of them: they are for readers of the log. */
  | { readonly kind: 'PositionsClosed'; readonly closed: readonly CloseOut[] }
  /** The chain's time as the chain reader has it, unix milliseconds; it comes every few seconds. */
  | { readonly kind: 'ClockObserved'; readonly chainMs: number }
  | {
      readonly kind: 'SettlementReported'
      readonly settlementId: string
      readonly outcome: SettlementOutcome
    }
  /**
   * What makes the chain refuse every match of the market, by the name of the revert, as the executor has read it; absent
   * when nothing does any more.
   */
  | { readonly kind: 'ChainFaultObserved'; readonly revert?: string }
  /** A failed match has shown that the signer is code: a contract, or a key that delegates to one. */
  | { readonly kind: 'SignerCodeObserved'; readonly signer: Address }
  /** The published outcome of a settlement is wrong, and finally so. */
  | { readonly kind: 'SettlementReversed'; readonly reversal: SettlementReversal }
  /** All of the executor's reversals up to this number were applied. */
  | { readonly kind: 'ReversalsRead'; readonly upTo: number }
  /**
   * What the chain shows of the time that a restored log lacks; several follow one MarketRestored. The last one has the open
   * orders cancelled.
   */
  | { readonly kind: 'GapObserved'; readonly gap: ObservedGap; readonly more: boolean }
  /** From here on the log is applied by this version of the step (engine-version.ts). It never goes back. */
  | { readonly kind: 'EngineVersionSet'; readonly version: number }

/** By what a repeat was recognised. */
export type RepeatedBy = 'order_id' | 'nonce'

/** Who changes a market, and why; both are kept in the log, and the reason of a pause is public. */
interface ByOperator {
  readonly by: string
  readonly reason: string
}

/** An operator's change of a market. */
export type MarketCommand = ByOperator &
  (
    | { readonly kind: 'MarketRulesSet'; readonly rules: Partial<MarketRules> }
    /** Nothing matches until it is resumed; orders are cancelled and settled as before. */
    | { readonly kind: 'MarketPaused' }
    | { readonly kind: 'MarketResumed' }
    /** Cancels every order that rests; what is pending still settles. */
    | { readonly kind: 'MarketDisabled' }
    | { readonly kind: 'MarketEnabled' }
    /**
     * The log was restored from a backup and may lack what was answered since: `seq` leaves room for all that was published,
     * and nothing matches until the gap is accepted.
     */
    | { readonly kind: 'MarketRestored' }
    | { readonly kind: 'GapAccepted' }
  )

/** Part of what happened on the chain and is in no log. */
export interface ObservedGap {
  /** Orders of which the chain counts more as filled than the log does, with the amount in all. */
  readonly filled: readonly { readonly orderId: string; readonly filled: AmountE18 }[]
  /** Nonces of orders that the log does not hold: they are never taken again. */
  readonly used: readonly { readonly owner: Address; readonly nonce: bigint }[]
  /** The fills, by transaction and number of the event in its block. */
  readonly fills: readonly { readonly txHash: Hex; readonly logIndex: number }[]
}

/** Whether the command may change the rules: its block begins with it, so that a block is made under one set of rules. */
export const mayChangeRules = ({ kind }: Command): boolean => RULE_KINDS.has(kind)
const RULE_KINDS: ReadonlySet<Command['kind']> = new Set<Command['kind']>([
  'MarketOpened',
  'MarketRulesSet',
  'MarketPaused',
  'MarketResumed',
  'MarketDisabled',
  'MarketEnabled',
  'MarketRestored',
  'GapAccepted',
])

/** The closed union of outcomes (SET-008); `unknown` is not an outcome and never enters the log. */
export type SettlementOutcome =
  | {
      readonly kind: 'success'
      readonly txHash: Hex
      readonly blockNumber: bigint
      /** The mark at which the chain booked the fill, where its contract has one and it could be read. */
      readonly markPrice?: PriceE18
      /** What its share of the transaction's gas cost, in USDC at 1e18, rounded up; absent where it could not be read. */
      readonly gasCost?: QuoteE18
    }
  | {
      readonly kind: 'reverted'
      /** Name of the on-chain revert, or of the venue's own refusal to send. */
      readonly revert: string
      /** What is at fault; `unclear` when the chain did not show it: then the step judges by the revert's name. */
      readonly guilty: Blame | 'unclear'
      /** The account lacks what a match of another market took of it first: no refusal of its order. */
      readonly spentElsewhere?: true
      /** Absent when the simulation already failed and nothing was sent. */
      readonly txHash?: Hex
      /** As for a success; also absent when nothing was sent. */
      readonly gasCost?: QuoteE18
      /** It is known which of its signers were code where it failed: the log has noted those before. */
      readonly signersRead?: true
    }

/**
 * A settlement whose outcome the chain has changed. It carries all that the step needs, since the market keeps neither
 * settled matches nor ended orders.
 */
export interface SettlementReversal {
  /** The executor's number of the reversal: applied once. */
  readonly no: number
  readonly match: Match
  readonly maker: ReversedLeg
  readonly taker: ReversedLeg
  readonly now:
    | { readonly kind: 'success'; readonly txHash: Hex; readonly blockNumber: bigint }
    | { readonly kind: 'reverted'; readonly revert: string; readonly published: PublishedFill }
}

/** An order of a reversed settlement. */
export interface ReversedLeg {
  readonly orderId: string
  readonly owner: Address
  readonly side: Side
  readonly limitPrice: PriceE18
  readonly desired: AmountE18
  /** The greatest amount that it is known to have asked for, where it has been reduced. */
  readonly reducedFrom?: AmountE18
  /** Final status and amount of an order that has ended with nothing pending; absent while the market knows it. */
  readonly ended?: { readonly status: OrderStatus; readonly filled: AmountE18 }
}

/** A command in the log with its writer, that writer's own number for it, and its time. */
export interface LoggedCommand {
  /** Writer, for example `intake` or `matcher`. */
  readonly source: string
  /** Increases by one or more with each command of the source; the matcher skips what it has seen. */
  readonly sourceNo: number
  /** The writer's clock, unix milliseconds. Market time is the greatest in the log that is trusted (clock.ts). */
  readonly atMs: number
  /** Where the matcher's shell sends the answer; no part of the state machine's input. */
  readonly replyTo?: string
  readonly requestId?: string
  readonly command: Command
}

/** Source of the intake's commands. */
export const INTAKE_SOURCE = 'intake'

/** Source of what a restore puts into a log before the first process starts: each restore is a term. */
export const RESTORE_SOURCE = 'restore'

/** Numbers of one term, enough for 49 days of a thousand commands a second. A restart begins another term. */
const NUMBERS_PER_TERM = 2 ** 32
/** Terms whose numbers are exact. */
const TERMS_MAX = 2 ** 21

/** The term that the number of a command belongs to. */
export const termOf = (sourceNo: number): number => Math.floor(sourceNo / NUMBERS_PER_TERM)

/** The numbers of one writer's commands in one of its terms. */
export interface Numbering {
  readonly term: number
  next(): number
}

/**
 * Counts the commands of a term. All numbers are above those of any earlier term, so that a command of an earlier process
 * of the same writer that reaches the log late is skipped, whatever their clocks show.
 */
export function createNumbering(term: number): Numbering {
  assert(term < TERMS_MAX, `there is no term ${term}`)
  let last = term * NUMBERS_PER_TERM
  return {
    term,
    next: () => {
      last += 1
      assert(termOf(last) === term, `the numbers of term ${term} are used up`)
      return last
    },
  }
}
