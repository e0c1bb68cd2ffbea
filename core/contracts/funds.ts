import type { MarginBalance } from '../../interface/balances.js'
import type { Address } from '../action.js'
import type { Side } from '../model/order.js'
import type { AmountE18, PriceE18 } from '../money.js'
import type { Market } from '../model/market.js'
import type { LegEvent } from '../model/match.js'
import type { MarketObservation } from '../model/observation.js'

/** What an account holds, as its owner sees it: the part that differs between contract types. */

declare const fundsOwned: unique symbol
/** What the chain shows of an account for its balances, in the terms of the contract; only its record looks inside. */
export interface FundsFacts {
  readonly [fundsOwned]?: 'FundsFacts'
}

/** What is open of an order. */
export interface OpenClaim {
  readonly side: Side
  readonly price: PriceE18
  readonly amount: AmountE18
}

/** A match that awaits settlement, or that the facts do not show yet. */
export type MatchClaim = Pick<LegEvent, 'side' | 'price' | 'amount' | 'fee'>

/** What an account's orders of one market have claimed. */
export interface Claims {
  readonly orders: readonly OpenClaim[]
  readonly matches: readonly MatchClaim[]
}

/** An account in one market, every fact of the chain of one block. */
export interface HeldFunds {
  readonly market: Market
  /** Absent where the contract type has no facts of a market. */
  readonly observed: MarketObservation | undefined
  readonly facts: FundsFacts
  readonly claims: Claims
}

/** What is claimed of an asset, in 1e-18 units. */
export interface ClaimedToken {
  readonly asset: Address
  readonly token: string
  readonly byOrders: bigint
  readonly byMatches: bigint
}

/** The account's funds in the market's terms. */
export interface ShownFunds {
  /** Every asset that the market moves as a balance. */
  readonly tokens: readonly ClaimedToken[]
  readonly margin?: MarginBalance
}

export const NO_CLAIMS: Claims = { orders: [], matches: [] }
