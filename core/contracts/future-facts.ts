import type { Address } from '../action.js'
import type { AccountFacts, MarketFacts } from '../model/observation.js'
import type { AmountE18, PriceE18 } from '../money.js'
import { address, always, amountE18, flag, int, priceE18, uint, whole } from '../wire/codec.js'
import { appended, struct } from '../wire/compound.js'

/**
 * What the chain shows of a series of futures at one block. Prices are cNGN per USDC at 1e18, sizes contracts at 1e18,
 * rates and factors fractions at 1e18.
 */
export interface FutureFacts {
  /** Unix seconds; trading ends an hour before. */
  readonly expirySec: number
  /** The matching contract admits the market's trade module. */
  readonly moduleAllowed: boolean
  /** The guardian has paused every change of the manager's accounts. */
  readonly paused: boolean
  /** Fills are refused until the index moves; `index` is then the last known one. */
  readonly indexStale: boolean
  readonly index: PriceE18
  readonly mark: PriceE18
  /** Sum of the sizes of all positions of all series, long and short, and its cap. */
  readonly totalPosition: AmountE18
  readonly positionCap: AmountE18
  readonly initialRate: bigint
  readonly maintenanceRate: bigint
  readonly initialFactor: bigint
  readonly maintenanceFactor: bigint
  /** Wrapped cNGN, in which variation margin is paid. */
  readonly cngnAsset: Address
  /** The series is settled, and `mark` is its settlement price. Absent before. */
  readonly settled?: true
}

/** Positions in other series that are not settled, with their sign: what a move of the index moves. */
interface OtherPositions {
  /** Contracts at 1e18. */
  readonly net: bigint
  /** What they are worth at their marks, in cNGN at 1e18; a short is owed. */
  readonly worth: bigint
}

/** What the chain shows of a trading account at one block, signed where it may be, at 1e18. */
export interface FutureAccountFacts {
  /** Contracts of this series: positive is long. */
  readonly position: bigint
  readonly usdc: bigint
  /** Wrapped cNGN with all variation margin, accrued or not, with this series at `mark`; negative when the account owes. */
  readonly cngn: bigint
  readonly mark: PriceE18
  /** Sum of the sizes of positions in other series that are not settled, in contracts. */
  readonly otherSize: bigint
  /** Absent without any. */
  readonly others?: OtherPositions
}

export const futureFactsCodec = struct<FutureFacts>({
  expirySec: whole,
  moduleAllowed: flag,
  paused: flag,
  indexStale: flag,
  index: priceE18,
  mark: priceE18,
  totalPosition: amountE18,
  positionCap: amountE18,
  initialRate: uint,
  maintenanceRate: uint,
  initialFactor: uint,
  maintenanceFactor: uint,
  cngnAsset: address,
  settled: appended(always),
})

export const futureAccountCodec = struct<FutureAccountFacts>({
  position: int,
  usdc: int,
  cngn: int,
  mark: priceE18,
  otherSize: uint,
  others: appended(struct<OtherPositions>({ net: int, worth: int })),
})

/** Hides a future's facts from everything outside its records, and the inverse. */
export const hideFuture = (facts: FutureFacts): MarketFacts => facts as MarketFacts
export const futureOf = (facts: MarketFacts): FutureFacts => facts as FutureFacts
export const hideFutureAccount = (facts: FutureAccountFacts): AccountFacts => facts as AccountFacts
export const futureAccountOf = (facts: AccountFacts): FutureAccountFacts =>
  facts as FutureAccountFacts
