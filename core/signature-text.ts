import type { Hex } from './action.js'
import { MAX_SIGNATURE_BYTES } from './limits.js'

/** Whether a value is a signature in form: `0x` and whole bytes in hex, at most 4096 of them. */
export function isSignatureText(value: unknown): value is Hex {
  if (typeof value !== 'string' || value.length > 2 + 2 * MAX_SIGNATURE_BYTES) return false
  return /^0x([0-9a-fA-F]{2})+$/.test(value)
}
