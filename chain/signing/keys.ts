import { createKeccak } from 'hash-wasm'
import { createRequire } from 'node:module'
import secp256k1 from 'secp256k1'
import { parseTransaction, toRlp } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { CannotStart } from '../../core/cannot-start.js'

// One instance for the process, because creating one takes longer than fifty digests. Digests are synchronous, so they
// cannot interleave.
const hasher = await createKeccak(256)

/** keccak-256 of the parts laid end to end: 32 fresh bytes. */
export function keccak256(...parts: readonly Uint8Array[]): Uint8Array {
  hasher.init()
  for (const part of parts) hasher.update(part)
  return hasher.digest('binary')
}

/** keccak-256 of text in UTF-8. */
export const keccakText = (text: string): Uint8Array => keccak256(Buffer.from(text, 'utf8'))

const SIGNATURE_BYTES = 65
/** Half of the curve's order: a larger s is the malleable twin, which the chain refuses. */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * The address that signed the 32-byte digest. Undefined when the chain would refuse the signature's form (not 65 bytes,
 * v not 27 or 28, s in the upper half, r or s out of range), or when no address can be recovered. secp256k1 takes a
 * twenty-fifth of the time of viem's recovery, which would dominate the check of an order.
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

/** The first byte nearly always decides. */
function isHigh(s: Uint8Array): boolean {
  const [first = 0] = s
  return first === MAX_S_FIRST_BYTE ? BigInt(bytesToHex(s)) > MAX_S : first > MAX_S_FIRST_BYTE
}

/** Address of an uncompressed public key (65 bytes, 0x04 first). */
export function addressOfPublicKey(key: Uint8Array): Address {
  return bytesToHex(keccak256(key.subarray(1)).subarray(12))
}

/** The bytes of hex text of even length. Any other text is a broken invariant. */
export function hexToBytes(hex: Hex): Buffer {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  assert(2 * bytes.length === hex.length - 2, 'not hex text')
  return bytes
}

/** Lower-case hex text with `0x` in front. */
export const bytesToHex = ({ buffer, byteOffset, byteLength }: Uint8Array): Hex =>
  `0x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`

/** keccak-256 of a call's address and data: identifies the call. */
export function fingerprintOf(to: Address, data: Hex): Hex {
  return bytesToHex(keccak256(hexToBytes(to), hexToBytes(data)))
}

/** A call to be sent as one EIP-1559 transaction; amounts in wei. */
export interface TransactionRequest {
  readonly to: Address
  readonly data: Hex
  /** 0 by default. */
  readonly value?: bigint
  readonly evmNonce: number
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** A key that signs transactions of one chain. The key itself cannot be read. */
export interface TransactionSigner {
  readonly address: Address
  /**
   * Synchronous, so that taking a nonce, signing and recording are one step. Throws SignerUnavailable when the key is
   * elsewhere and gives no good signature.
   */
  readonly sign: (request: TransactionRequest) => { readonly hash: Hex; readonly raw: Hex }
}

/** The transaction type of EIP-1559, which precedes the encoded fields. */
const FEE_MARKET = Uint8Array.of(2)

/** Signs the keccak-256 of a payload; the signature's s is in the lower half. */
type PayloadSigner = (payload: Uint8Array) => {
  /** r and s, 64 bytes. */
  readonly signature: Uint8Array
  /** Which of the two keys that fit it is the signer's: 0 or 1. */
  readonly recid: number
}

/**
 * `privateKey` is 32 bytes within the curve's order; throws for any other. viem's signTransaction works on hex text and
 * signs in JavaScript: for a transaction with 62 matches it takes 25 ms where this takes 1.6, which would more than
 * double the executor's processor time of a match. Its RLP encoder is used, on bytes.
 */
export function createTransactionSigner(privateKey: Hex, chainId: number): TransactionSigner {
  const key = hexToBytes(privateKey)
  const address = addressOfPublicKey(secp256k1.publicKeyCreate(key, false))
  return transactionSignerOf(address, chainId, (payload) =>
    secp256k1.ecdsaSign(keccak256(payload), key),
  )
}

/** A signer of transactions whose key `signPayload` alone uses. */
export const transactionSignerOf = (
  address: Address,
  chainId: number,
  signPayload: PayloadSigner,
): TransactionSigner => ({
  address,
  sign: (request) => {
    const fields = unsignedFields(request, chainId)
    const { signature, recid } = signPayload(Buffer.concat([FEE_MARKET, toRlp(fields, 'bytes')]))
    const r = signature.subarray(0, 32)
    const s = signature.subarray(32)
    const values = [integer(BigInt(recid)), withoutZeros(r), withoutZeros(s)]
    const signed = toRlp([...fields, ...values], 'bytes')
    const raw = Buffer.concat([FEE_MARKET, signed])
    return { raw: bytesToHex(raw), hash: bytesToHex(keccak256(raw)) }
  },
})

/** The request that the signer was given for these bytes. Throws for bytes that no signer made. */
export function requestOf(raw: Hex): TransactionRequest {
  const signed = parseTransaction(raw)
  const { to, gas, maxFeePerGas, data = '0x', value = 0n, nonce: evmNonce = 0 } = signed
  assert(signed.type === 'eip1559' && to && gas && maxFeePerGas, 'not a transaction of a signer')
  const { maxPriorityFeePerGas = 0n } = signed
  return { to, data, value, evmNonce, gasLimit: gas, maxFeePerGas, maxPriorityFeePerGas }
}

type RlpField = Uint8Array | readonly Uint8Array[]

/** The signed fields in their order; the last is the access list, which is empty. */
function unsignedFields(request: TransactionRequest, chainId: number): RlpField[] {
  const { to, data, value = 0n, evmNonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = request
  return [
    ...[BigInt(chainId), BigInt(evmNonce)].map(integer),
    ...[maxPriorityFeePerGas, maxFeePerGas, gasLimit].map(integer),
    hexToBytes(to),
    integer(value),
    hexToBytes(data),
    [],
  ]
}

/** An unsigned integer as RLP has it: big-endian, without leading zeros, empty for zero. */
function integer(value: bigint): Uint8Array {
  const digits = value === 0n ? '' : value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(bytes.findIndex((byte) => byte !== 0))
}

const require = createRequire(import.meta.url)

/**
 * Throws CannotStart when `loaded` is not the compiled library: its fallback in JavaScript is many times slower and does not
 * take the same time for every key.
 */
export function requireNativeCurve(loaded: unknown = secp256k1): void {
  const why = 'the compiled part of secp256k1 does not load on this machine'
  let compiled: unknown
  try {
    compiled = require('secp256k1/bindings.js')
  } catch (cause) {
    throw new CannotStart(why, { cause })
  }
  if (loaded !== compiled) throw new CannotStart(why)
}
