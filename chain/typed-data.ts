import type { Action, Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { keccak256, keccakText } from './keccak.js'

/** The part of Matching's EIP-712 domain that differs between deployments. */
export interface ActionDomain {
  readonly chainId: number
  readonly verifyingContract: Address
}

/** What an owner or a session key signs to prove a cancel (decision B12). */
export interface CancelTerms {
  readonly owner: Address
  readonly signer: Address
  readonly nonce: bigint
  /** Unix seconds. */
  readonly expiry: bigint
}

/** Hashes actions as Matching does, and cancels on the same domain; made once per domain. */
export interface ActionHasher {
  /** EIP-712 digest, the 32 bytes that are signed. Every field must fit its type: anything else is our own mistake. */
  digest(action: Action): Uint8Array
  /** The same for a signed cancel, which no contract ever sees. */
  cancelDigest(terms: CancelTerms): Uint8Array
}

const DOMAIN_TYPE =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
const ACTION_TYPE =
  'Action(uint256 subaccountId,uint256 nonce,address module,bytes data,uint256 expiry,address owner,address signer)'
const CANCEL_TYPE = 'Cancel(address owner,address signer,uint256 nonce,uint256 expiry)'

const WORD = 32
const PREFIX = Buffer.from('1901', 'hex')

/** The domain separator is computed here, once; each digest then costs two short hashes and one of the data. */
export function createActionHasher(domain: ActionDomain): ActionHasher {
  const separator = domainSeparator(domain)
  // Written anew for every action; digest never yields, so one buffer of each serves all.
  const struct = Buffer.alloc(8 * WORD)
  const signed = Buffer.concat([PREFIX, separator, Buffer.alloc(WORD)])
  const signedDigest = (hash: Uint8Array): Uint8Array => {
    signed.set(hash, signed.length - WORD)
    return keccak256(signed)
  }
  struct.set(keccakText(ACTION_TYPE), 0)
  const cancel = Buffer.alloc(5 * WORD)
  cancel.set(keccakText(CANCEL_TYPE), 0)
  return {
    digest(action) {
      writeWord(struct, 1, action.subaccountId)
      writeWord(struct, 2, action.nonce)
      writeAddress(struct, 3, action.module)
      struct.set(keccak256(hexToBytes(action.data)), 4 * WORD)
      writeWord(struct, 5, action.expiry)
      writeAddress(struct, 6, action.owner)
      writeAddress(struct, 7, action.signer)
      return signedDigest(keccak256(struct))
    },
    cancelDigest({ owner, signer, nonce, expiry }) {
      writeAddress(cancel, 1, owner)
      writeAddress(cancel, 2, signer)
      writeWord(cancel, 3, nonce)
      writeWord(cancel, 4, expiry)
      return signedDigest(keccak256(cancel))
    },
  }
}

/** The domain separator of Matching at the given contract: 32 bytes. */
export function domainSeparator({ chainId, verifyingContract }: ActionDomain): Uint8Array {
  const words = Buffer.alloc(5 * WORD)
  words.set(keccakText(DOMAIN_TYPE), 0)
  words.set(keccakText('Matching'), WORD)
  words.set(keccakText('1.0'), 2 * WORD)
  writeWord(words, 3, BigInt(chainId))
  writeAddress(words, 4, verifyingContract)
  return keccak256(words)
}

const UINT64_MAX = 2n ** 64n - 1n
const UINT64_BYTES = 8

function writeWord(target: Buffer, index: number, value: bigint): void {
  if (value >= 0n && value <= UINT64_MAX) {
    const end = (index + 1) * WORD
    target.fill(0, index * WORD, end - UINT64_BYTES)
    target.writeBigUInt64BE(value, end - UINT64_BYTES)
    return
  }
  const digits = value.toString(16).padStart(2 * WORD, '0')
  assert(value >= 0n && digits.length === 2 * WORD, 'value does not fit its word')
  target.write(digits, index * WORD, 'hex')
}

const ADDRESS_BYTES = 20

/** The rest of an address's word is zero from the beginning, because nothing else is ever written there. */
function writeAddress(target: Buffer, index: number, address: Address): void {
  const from = (index + 1) * WORD - ADDRESS_BYTES
  const written = target.write(address.slice(2), from, ADDRESS_BYTES, 'hex')
  assert(written === ADDRESS_BYTES && address.length === 42, 'not an address')
}

/** Bytes of hex text of even length; anything else is our own mistake. */
export function hexToBytes(hex: Hex): Buffer {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  assert(2 * bytes.length === hex.length - 2, 'not hex text')
  return bytes
}

/** Lower-case hex text with `0x` in front. */
export const bytesToHex = ({ buffer, byteOffset, byteLength }: Uint8Array): Hex =>
  `0x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`
