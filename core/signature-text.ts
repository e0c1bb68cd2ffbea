import type { Hex } from './action.js'
import { MAX_SIGNATURE_BYTES } from './limits.js'
import { isHexText } from './words.js'

/** Whether a value is a signature in form: `0x` and whole bytes in hex, at most 4096 of them. */
export function isSignatureText(value: unknown): value is Hex {
  if (typeof value !== 'string' || value.length > 2 + 2 * MAX_SIGNATURE_BYTES) return false
  // Pairs of digits in the pattern would cost several times as much as counting all of them.
  return value.length > 2 && value.length % 2 === 0 && isHexText(value)
}
