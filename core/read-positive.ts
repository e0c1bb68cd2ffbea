import type { Checked } from './checked.js'
import { isNegativeDecimal, parseDecimal } from './decimal.js'
import { invalidDecimal, notPositive } from './refusals.js'

/** Reads a decimal above zero at 1e18, the scale of every number of an order. */
export function readPositive(field: string, sent: unknown): Checked<{ readonly value: bigint }> {
  if (isNegativeDecimal(sent)) return { refusal: notPositive(field) }
  const value = parseDecimal(sent, 18)
  if (value === undefined) return { refusal: invalidDecimal(field, sent, 18) }
  return value > 0n ? { value } : { refusal: notPositive(field) }
}
