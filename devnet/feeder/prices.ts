import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { parseDecimal } from '../../core/decimal.js'
import { START_PRICES, type FeedPrices } from '../chain/perp-parameters.js'

/** A decimal at 1e18. */
const decimal = z.string().transform((text, context) => {
  const value = parseDecimal(text, 18)
  if (value !== undefined && value >= 0n) return value
  context.addIssue({ code: 'custom', message: 'must be a decimal of at most 18 digits' })
  return z.NEVER
})

/** Prices as decimals. Absent ones follow: the mark and the bid the index, the ask the bid; stable and confidence are 1. */
export const pricesSchema = z
  .strictObject({
    index: decimal,
    mark: decimal.optional(),
    bid: decimal.optional(),
    ask: decimal.optional(),
    stable: decimal.optional(),
    confidence: decimal.optional(),
  })
  .transform(({ index, mark = index, bid = index, ask = bid, ...rest }): FeedPrices => {
    const { stable = START_PRICES.stable, confidence = START_PRICES.confidence } = rest
    return { index, mark, bid, ask, stable, confidence }
  })

export type PricesAsText = z.input<typeof pricesSchema>

/** `DATA_DIR/prices.json`: the prices that the feeder publishes. */
export const pricesFile = (dataDir: string): string => join(dataDir, 'prices.json')

/** The prices file is not JSON or not of its form; the message names the fault. */
export class PricesFileError extends Error {
  override readonly name = 'PricesFileError'
}

/** The prices of the file; START_PRICES while there is none. Throws PricesFileError. */
export async function readPrices(file: string): Promise<FeedPrices> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return START_PRICES
    throw error
  }
  try {
    const parsed = pricesSchema.safeParse(JSON.parse(text))
    if (parsed.success) return parsed.data
    throw new PricesFileError(`${file}: ${z.prettifyError(parsed.error)}`)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new PricesFileError(`${file} is not JSON`, { cause })
  }
}
