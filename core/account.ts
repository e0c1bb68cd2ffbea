import type { Address } from './action.js'
import type { AmountE18, QuoteE18 } from './money.js'

/** What a subaccount has on the chain at one block, and whose it is there. Balances are signed. */
export interface AccountObservation {
  readonly subaccountId: bigint
  /** Of the market's base asset, 1e-18 units. */
  readonly base: AmountE18
  /** Of the asset that the market's trade module moves as quote, 1e-18 units. */
  readonly quote: QuoteE18
  /** The owner that the matching contract has recorded; absent while that contract does not hold the account. */
  readonly custodyOwner?: Address
  /** The owner has asked to take the account out of the matching contract's hands. */
  readonly leaving: boolean
  /** The block of which all of this is true, and its time in unix seconds. */
  readonly blockNumber: bigint
  readonly blockTimeSec: number
}

/** An amount of each asset of a market, signed, 1e-18 units. */
export interface Funds {
  readonly base: bigint
  readonly quote: bigint
}

export type FundedAsset = keyof Funds
