import type { Address } from '../action.js'
import type { AccountFacts, MarketFacts } from '../model/observation.js'
import type { AmountE18, PriceE18 } from '../money.js'
import { address, amountE18, flag, int, priceE18, uint } from '../wire/codec.js'
import { optional, struct } from '../wire/compound.js'

/**
 * What the chain shows of a perpetual market at one block. Prices and amounts at 1e18 (USDC per cNGN, cNGN); rates,
 * factors, thresholds and confidences are fractions at 1e18.
 */
export interface PerpetualFacts {
  /** The matching contract admits the market's trade module. */
  readonly moduleAllowed: boolean
  /** The guardian has paused every change of the manager's accounts. */
  readonly paused: boolean
  /** The asset takes no trades any more. */
  readonly disabled: boolean
  /** Sum of the sizes of all positions, long and short, and its cap. */
  readonly totalPosition: AmountE18
  readonly positionCap: AmountE18
  /** Sum of the long positions. */
  readonly openInterest: AmountE18
  /** Zero while the feed is stale. */
  readonly mark: PriceE18
  readonly index: PriceE18
  /** A price that every trade needs cannot be read: stale, or bid above ask. */
  readonly pricesStale: boolean
  readonly markConfidence: bigint
  readonly indexConfidence: bigint
  /** Price of USDC in dollars. */
  readonly stable: bigint
  /** Of one hour, signed: positive when longs pay. Zero while the prices are stale. */
  readonly fundingRate: bigint
  readonly initialRate: bigint
  readonly maintenanceRate: bigint
  /** Cash may become negative. */
  readonly borrowing: boolean
  readonly contingency: Contingency
  readonly collateral?: CollateralFacts
  /** The contract that auctions accounts below maintenance margin. */
  readonly auction?: Address
}

/** Surcharges on initial margin while confidence or the stable price is below a threshold; 0 is not a threshold. */
export interface Contingency {
  readonly perpThreshold: bigint
  readonly baseThreshold: bigint
  readonly factor: bigint
  readonly depegThreshold: bigint
  readonly depegFactor: bigint
}

/** The base asset that accounts may post as margin. */
export interface CollateralFacts {
  readonly asset: Address
  readonly marginFactor: bigint
  /** Further factor of initial margin. */
  readonly initialScale: bigint
  readonly cap: AmountE18
  readonly total: AmountE18
  readonly depositsOpen: boolean
}

/** What the chain shows of a subaccount at one block, signed where it may be, at 1e18. */
export interface PerpetualAccount {
  /** An auction of the account runs: the chain refuses every change of it. */
  readonly inAuction: boolean
  /** Positive is long. */
  readonly position: bigint
  /** Stored balance of the cash asset. */
  readonly cash: bigint
  /** Balance of the collateral asset. */
  readonly collateral: bigint
  /** Absent while the chain cannot price the account. */
  readonly valued?: ValuedAccount
}

export interface ValuedAccount {
  /** Profit and funding that the position has not settled into cash, at `mark`. */
  readonly unsettled: bigint
  readonly mark: PriceE18
  /** Initial margin surplus of what the account holds besides this market. */
  readonly elsewhere: bigint
}

export const perpetualFactsCodec = struct<PerpetualFacts>({
  moduleAllowed: flag,
  paused: flag,
  disabled: flag,
  totalPosition: amountE18,
  positionCap: amountE18,
  openInterest: amountE18,
  mark: priceE18,
  index: priceE18,
  pricesStale: flag,
  markConfidence: uint,
  indexConfidence: uint,
  stable: uint,
  fundingRate: int,
  initialRate: uint,
  maintenanceRate: uint,
  borrowing: flag,
  contingency: struct<Contingency>({
    perpThreshold: uint,
    baseThreshold: uint,
    factor: uint,
    depegThreshold: uint,
    depegFactor: uint,
  }),
  collateral: optional(
    struct<CollateralFacts>({
      asset: address,
      marginFactor: uint,
      initialScale: uint,
      cap: amountE18,
      total: amountE18,
      depositsOpen: flag,
    }),
  ),
  auction: optional(address),
})

export const perpetualAccountCodec = struct<PerpetualAccount>({
  inAuction: flag,
  position: int,
  cash: int,
  collateral: int,
  valued: optional(struct<ValuedAccount>({ unsettled: int, mark: priceE18, elsewhere: int })),
})

/** Hides a perpetual's facts from everything outside its records, and the inverse. */
export const hidePerpetual = (facts: PerpetualFacts): MarketFacts => facts as MarketFacts
export const perpetualOf = (facts: MarketFacts): PerpetualFacts => facts as PerpetualFacts
export const hidePerpetualAccount = (facts: PerpetualAccount): AccountFacts => facts as AccountFacts
export const perpetualAccountOf = (facts: AccountFacts): PerpetualAccount =>
  facts as PerpetualAccount
