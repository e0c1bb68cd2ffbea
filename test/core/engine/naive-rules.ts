import type {
  AccountFacts,
  MarketFacts,
  MarketObservation,
} from '../../../core/model/observation.js'
import type { Side } from '../../../core/model/order.js'

/** What a trade moves on one account: signed size at 1e18, price × size at 1e36, fee at 1e18. */
export interface NaiveLeg {
  readonly size: bigint
  readonly worth: bigint
  readonly fee: bigint
}

/** What differs between the kinds of market. */
export interface NaiveRules {
  /** Why nothing crosses; facts may be older by `spareMs`. */
  readonly holdOf: (
    seen: MarketObservation | undefined,
    nowMs: number,
    spareMs: number,
  ) => string | undefined
  readonly range?: (
    seen: MarketObservation | undefined,
    nowMs: number,
  ) => { readonly low: bigint; readonly high: bigint } | undefined
  readonly fee: (price: bigint, amount: bigint) => bigint
  readonly refusesShortMargin: boolean
  readonly margin?: NaiveMargin
}

/** How a manager computes margin. */
export interface NaiveMargin {
  readonly position: (account: AccountFacts) => bigint
  readonly isFrozen: (account: AccountFacts) => boolean
  readonly isValued: (account: AccountFacts) => boolean
  readonly hasPrices: (market: MarketFacts) => boolean
  readonly cash: (account: AccountFacts, market: MarketFacts) => bigint
  readonly equity: (account: AccountFacts, market: MarketFacts) => bigint
  readonly required: (market: MarketFacts, position: bigint) => bigint
  readonly result: (market: MarketFacts, leg: NaiveLeg) => bigint
  /** The part of a result that moves in cash. */
  readonly cashResult: (market: MarketFacts, leg: NaiveLeg) => bigint
  readonly mayBorrow: (market: MarketFacts) => boolean
  /** Whether the chain judges trades that shrink a position, but for those that pay nothing. */
  readonly judgesReductions: boolean
  /** The prices at which a position is valued: a trade is worth the least of them. */
  readonly values: (market: MarketFacts) => readonly bigint[]
  readonly positions: (market: MarketFacts) => { readonly total: bigint; readonly cap: bigint }
}

export const E18 = 10n ** 18n

export const floorDiv = (a: bigint, b: bigint): bigint =>
  a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n)
export const ceilDiv = (a: bigint, b: bigint): bigint => -floorDiv(-a, b)
export const sizeOf = (a: bigint): bigint => (a < 0n ? -a : a)
export const signed = (side: Side, amount: bigint): bigint => (side === 'buy' ? amount : -amount)

/** Balances alone, and none of them known. */
export const naiveSpot: NaiveRules = {
  holdOf: () => undefined,
  fee: () => 0n,
  refusesShortMargin: false,
}
