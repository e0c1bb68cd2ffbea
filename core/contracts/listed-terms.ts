import type { MarketFacts } from '../model/observation.js'

/** A contract in the words of listing sites. */
export interface ListedContractTerms {
  readonly productType: 'Perpetual' | 'Futures'
  /** `Vanilla`: margined and settled in the asset that prices it. */
  readonly contractType: 'Vanilla'
  /** Absent where the chain does not state it for one market. */
  readonly openInterest?: (facts: MarketFacts) => OpenInterest
}

/** Sum of the long positions of a market. */
export interface OpenInterest {
  /** Base asset at 1e18. */
  readonly amount: bigint
  /** USDC at 1e6, at the index, rounded down. */
  readonly worthE6: bigint
}
