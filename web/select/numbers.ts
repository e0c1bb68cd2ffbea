import { parseDecimal } from '../../core/decimal.js'
import { E18 } from '../../core/money.js'

/** A decimal of the venue with its sign, at 1e18; undefined for one that is absent or empty. */
export function readSigned(text: string | undefined): bigint | undefined {
  if (text === undefined || text === '') return undefined
  const isNegative = text.startsWith('-')
  const size = parseDecimal(isNegative ? text.slice(1) : text, 18)
  return size !== undefined && isNegative ? -size : size
}

/** The same, with 0 for what is absent. */
export const readOrZero = (text: string | undefined): bigint => readSigned(text) ?? 0n

/** A number at 1e18 for drawing alone: charts and bars, no money. */
export const toDrawn = (valueE18: bigint): number => Number(valueE18) / Number(E18)
