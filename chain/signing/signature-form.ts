import type { Address } from '../../core/action.js'
import { bytesToHex, recoverStrict } from './keys.js'

const CURVE_ORDER = 2n ** 256n - 0x14551231950b75fc4402da1732fc9bebfn
/** The last word of a signature that is wrapped for a wallet without code. */
const ERC_6492 = '6492'.repeat(16)
const WORD = 32
/** More bytes after r and s hold no `v`: an EIP-155 one of the largest chain id has eight. */
const MAX_V_BYTES = 9

/**
 * What is wrong with the bytes of a refused signature over this digest, in words that follow "the signature". Named is only
 * what explains it: put right, the signature is the signer's. An ERC-6492 wrapper is named whatever it wraps. Most signatures
 * cost one recovery.
 */
export function formFault(
  digest: Uint8Array,
  bytes: Uint8Array,
  signer: Address,
): string | undefined {
  if (bytesToHex(bytes.subarray(-WORD)).endsWith(ERC_6492)) {
    return 'is wrapped as ERC-6492: deploy the wallet and send the signature inside'
  }
  const isSigned = (rs: Uint8Array, v: number): boolean =>
    recoverStrict(digest, Buffer.concat([rs, Uint8Array.of(v)])) === signer
  if (bytes.length === 2 * WORD) {
    const compact = Buffer.from(bytes)
    const v = 27 + ((compact[WORD] ?? 0) >> 7)
    compact[WORD] = (compact[WORD] ?? 0) & 0x7f
    return isSigned(compact, v)
      ? 'is in the compact form of 64 bytes: send r, s and v, 65 bytes'
      : undefined
  }
  if (bytes.length < 2 * WORD + 1 || bytes.length > 2 * WORD + MAX_V_BYTES) return undefined
  const rs = bytes.subarray(0, 2 * WORD)
  return (
    wrongV(bytes.subarray(2 * WORD), (v) => isSigned(rs, v)) ??
    highS(rs, bytes[2 * WORD], isSigned) ??
    wrongOrder(bytes, isSigned)
  )
}

const V = [27, 28]

function wrongV(sent: Uint8Array, isSignedWith: (v: number) => boolean): string | undefined {
  const v = BigInt(bytesToHex(sent))
  const right = V.find((each) => BigInt(each) !== v && isSignedWith(each))
  if (right === undefined) return undefined
  return `ends in v = ${v}${v >= 35n ? ', as EIP-155 has it' : ''}: send ${right}`
}

type IsSigned = (rs: Uint8Array, v: number) => boolean

function highS(rs: Uint8Array, v: number | undefined, isSigned: IsSigned): string | undefined {
  const s = BigInt(bytesToHex(rs.subarray(WORD)))
  if (s <= CURVE_ORDER / 2n || s >= CURVE_ORDER) return undefined
  const low = Buffer.from((CURVE_ORDER - s).toString(16).padStart(2 * WORD, '0'), 'hex')
  return isSigned(Buffer.concat([rs.subarray(0, WORD), low]), v === 27 ? 28 : 27)
    ? 'has the high s: send the curve’s order less s, and the other v'
    : undefined
}

/** `v` in front, counted from 0 or from 27. */
function wrongOrder(bytes: Uint8Array, isSigned: IsSigned): string | undefined {
  const [first = 0] = bytes
  if (bytes.length !== 2 * WORD + 1 || !(first <= 1 || V.includes(first))) return undefined
  return V.some((v) => isSigned(bytes.subarray(1), v))
    ? 'has v in front: send r, s and v, in this order'
    : undefined
}
