import type { FundingRecord, MarkRecord } from '../../interface/prices.js'
import type { PricesAt } from '../contracts/contract.js'
import { formatDecimal } from '../decimal.js'
import { isoTime } from '../time.js'

/** Prices of a market as one block of the chain showed them. */
export interface ObservedPrices extends PricesAt {
  /** Time of the block, unix seconds. */
  readonly observedSec: number
  readonly blockNumber: number
}

/** Presents a mark; the index is left out while there is none. */
export function markRecord({ observedSec, blockNumber, mark, index }: ObservedPrices): MarkRecord {
  return {
    observed_at: isoTime(observedSec * 1000),
    block_number: blockNumber,
    mark_price: formatDecimal(mark, 18),
    ...(index !== undefined && { index_price: formatDecimal(index, 18) }),
  }
}

/** Presents a funding rate with the prices that it was computed from. */
export const fundingRecord = (observed: ObservedPrices): FundingRecord => ({
  ...markRecord(observed),
  funding_rate_1h: formatDecimal(observed.fundingRate ?? 0n, 18),
})
