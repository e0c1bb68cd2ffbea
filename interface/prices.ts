import { z } from 'zod'
import { nextBefore } from './order.js'
import { decimal, type Shape, signedDecimal, time } from './values.js'

/**
 * Histories of the prices at which positions are valued: marks of perpetuals and futures, funding of perpetuals. Additive to
 * the interface. Prices are the engine's, at up to 18 decimals.
 */

const ofBlock = {
  observed_at: time.describe('Time of the block of the chain that showed it.'),
  block_number: z.int().min(0),
}
const markPrice = decimal.describe('Price at which positions are valued.')
const indexPrice = decimal.optional().describe('Absent before the first.')

/** An item of `GET /v1/marks`. */
export const MarkRecord = z
  .object({ ...ofBlock, mark_price: markPrice, index_price: indexPrice })
  .meta({ id: 'Mark', description: 'Mark and index of a market in one block of the chain.' })
export type MarkRecord = Shape<typeof MarkRecord>

/** The body of `GET /v1/marks`. */
export const MarksPage = z
  .object({
    market: z.string(),
    marks: z.array(MarkRecord).describe('Newest first.'),
    next_before: nextBefore,
  })
  .meta({ id: 'Marks', description: 'A page of marks.' })
export type MarksPage = Shape<typeof MarksPage>

/** An item of `GET /v1/funding`. */
export const FundingRecord = z
  .object({
    ...ofBlock,
    funding_rate_1h: signedDecimal.describe('Of one hour; positive when longs pay shorts.'),
    mark_price: markPrice,
    index_price: indexPrice,
  })
  .meta({ id: 'Funding', description: 'The funding rate of a perpetual in one hour.' })
export type FundingRecord = Shape<typeof FundingRecord>

/** The body of `GET /v1/funding`. */
export const FundingPage = z
  .object({
    market: z.string(),
    funding: z.array(FundingRecord).describe('Newest first.'),
    next_before: nextBefore,
  })
  .meta({ id: 'FundingHistory', description: 'A page of funding rates.' })
export type FundingPage = Shape<typeof FundingPage>
