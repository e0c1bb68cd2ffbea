import secp256k1 from 'secp256k1'
import type { Address } from '../core/action.js'
import { keccak256 } from './keccak.js'
import { bytesToHex } from './typed-data.js'

const SIGNATURE_BYTES = 65
/** Half of the curve's order: a larger s is the malleable twin, which the chain refuses. */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * The address whose key made the signature over the 32-byte digest; undefined when the chain would refuse its form
 * (not 65 bytes, v not 27 or 28, s in the upper half, r or s out of range) or when it recovers to nobody.
 */
export function recoverStrict(digest: Uint8Array, signature: Uint8Array): Address | undefined {
  if (signature.length !== SIGNATURE_BYTES) return undefined
  const v = signature[64]
  if (v !== 27 && v !== 28) return undefined
  if (isHigh(signature.subarray(32, 64))) return undefined
  try {
    const key = secp256k1.ecdsaRecover(signature.subarray(0, 64), v - 27, digest, false)
    return addressOfPublicKey(key)
  } catch {
    // The library throws for r or s out of range and for a point that is not on the curve.
    return undefined
  }
}

const MAX_S_FIRST_BYTE = 0x7f

/** The first byte tells nearly always. */
function isHigh(s: Uint8Array): boolean {
  const [first = 0] = s
  return first === MAX_S_FIRST_BYTE ? BigInt(bytesToHex(s)) > MAX_S : first > MAX_S_FIRST_BYTE
}

/** Address of an uncompressed public key (65 bytes, 0x04 first). */
export function addressOfPublicKey(key: Uint8Array): Address {
  return bytesToHex(keccak256(key.subarray(1)).subarray(12))
}
