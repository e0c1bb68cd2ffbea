import type { Address, Hex } from '../core/action.js'
import { keccak256 } from './keccak.js'
import { bytesToHex, hexToBytes } from './typed-data.js'

/** keccak-256 of a call's address and data: two calls have the same one only when they are the same. */
export function fingerprintOf(to: Address, data: Hex): Hex {
  return bytesToHex(keccak256(hexToBytes(to), hexToBytes(data)))
}
