import type { MarketEntry } from '../../interface/market.js'
import { E18 } from '../money.js'

/** What the signed words of an order count in. */
export interface SignedUnits {
  /** Signed amount per 1.0 of size. */
  readonly scale: bigint
  /** What the fee of a signed unit is a share of, in quote at 1e18, at any price; undefined: the price of execution. */
  readonly feeBaseE18: bigint | undefined
}

/** Of a market, by its entry. A future signs contracts, and charges for the size of each. */
export const signedUnits = ({
  future,
  contract_multiplier: size,
}: Pick<MarketEntry, 'future' | 'contract_multiplier'>): SignedUnits =>
  future === undefined
    ? { scale: E18, feeBaseE18: undefined }
    : { scale: BigInt(future.amount_scale), feeBaseE18: BigInt(size) * E18 }

/** Whether an entry is of a series of dated futures. */
export const isSeries = ({ future }: Pick<MarketEntry, 'future'>): boolean => future !== undefined
