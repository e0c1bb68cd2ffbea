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
  // Written anew for every action; digest never yields, so one buffer serves all.
  const struct = Buffer.alloc(8 * WORD)
  struct.set(keccakText(ACTION_TYPE), 0)
  const cancel = Buffer.alloc(5 * WORD)
  cancel.set(keccakText(CANCEL_TYPE), 0)
  return {
    digest(action) {
      writeWord(struct, 1, action.subaccountId)
      writeWord(struct, 2, action.nonce)
      writeWord(struct, 3, BigInt(action.module))
      struct.set(keccak256(hexToBytes(action.data)), 4 * WORD)
      writeWord(struct, 5, action.expiry)
      writeWord(struct, 6, BigInt(action.owner))
      writeWord(struct, 7, BigInt(action.signer))
      return keccak256(PREFIX, separator, keccak256(struct))
    },
    cancelDigest({ owner, signer, nonce, expiry }) {
      writeWord(cancel, 1, BigInt(owner))
      writeWord(cancel, 2, BigInt(signer))
      writeWord(cancel, 3, nonce)
      writeWord(cancel, 4, expiry)
      return keccak256(PREFIX, separator, keccak256(cancel))
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
  writeWord(words, 4, BigInt(verifyingContract))
  return keccak256(words)
}

function writeWord(target: Buffer, index: number, value: bigint): void {
  const digits = value.toString(16).padStart(2 * WORD, '0')
  assert(value >= 0n && digits.length === 2 * WORD, 'value does not fit its word')
  target.write(digits, index * WORD, 'hex')
}

/** Bytes of hex text of even length; anything else is our own mistake. */
export function hexToBytes(hex: Hex): Buffer {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  assert(2 * bytes.length === hex.length - 2, 'not hex text')
  return bytes
}

/** Lower-case hex text with `0x` in front. */
export const bytesToHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
