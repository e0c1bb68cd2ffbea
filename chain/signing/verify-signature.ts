import type { Action, Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { isHexText } from '../../core/entry/read-action.js'
import { typeString } from '../../core/entry/signed-structs.js'
import { readAtHead, type HeadReader } from '../reads/blocks.js'
import { callBatchOf } from '../reads/call-batch.js'
import { ChainUnreachable, type ChainClient, type CircuitBreaker } from '../reads/client.js'
import { undefinedOnFailure } from '../reads/read-failure.js'
import type { CacheAnswer } from '../reads/expiring-cache.js'
import { doesWalletVouch, type WalletQuestion } from './ask-wallet.js'
import {
  bytesToHex,
  hexToBytes,
  keccak256,
  keccakText,
  recoverStrict,
  requireNativeCurve,
} from './keys.js'
import {
  createSignerCodes,
  type CodeAtBlock,
  type SignerCode,
  type SignerCodesOptions,
} from './signer-code.js'
import { formFault } from './signature-form.js'

/** The verdict on a signature; `unknown` when the chain did not answer (AUT-010). */
export type SignatureVerdict =
  /** `byCode`: the code at the signer has accepted it; false also of a recovered key whose code could not be read. */
  | { readonly kind: 'valid'; readonly byCode: boolean }
  | {
      readonly kind: 'invalid'
      readonly digest: Hex
      /** Absent when no address can be recovered, and on the `erc1271` path. */
      readonly recovered?: Address
      readonly path: 'ecdsa' | 'erc1271'
      /** What is wrong with its bytes, where that explains it: words that follow "the signature". */
      readonly fault?: string
    }
  | { readonly kind: 'unknown'; readonly cause: Error }

/** Judges a signed action exactly as the matching contract will: code at the signer means ERC-1271 only. */
export interface SignatureVerifier {
  /** EIP-712 digest of an action on this venue's domain. */
  readonly digest: (action: Action) => Hex
  /** Never rejects for what the chain or the client does; the signature may be any text. */
  readonly verify: (action: Action, signature: Hex) => CacheAnswer<SignatureVerdict>
  /**
   * Whether there is code at the address, at most a block old, or of a plain key that no block has given code since;
   * undefined when the chain did not say.
   */
  readonly hasCode: (address: Address) => CacheAnswer<boolean | undefined>
  /** EIP-712 digest of a cancel on this venue's domain. */
  readonly cancelDigest: (terms: CancelStatement) => Hex
  /** The same for a cancel of many orders. */
  readonly cancelAllDigest: (terms: CancelAllStatement) => Hex
  /** Judges a signature over a digest of this venue as `verify` does. */
  readonly verifyDigest: (
    signer: Address,
    digest: Hex,
    signature: Hex,
  ) => CacheAnswer<SignatureVerdict>
}

/** The two questions that only the chain can answer; undefined without an answer. */
export interface SignatureReads {
  readonly readCode: (address: Address) => Promise<CodeAtBlock | undefined>
  /** Whether the contract at `signer` vouches for the signature, asked as a match asks. */
  readonly callIsValidSignature: (
    signer: Address,
    digest: Hex,
    signature: Hex,
  ) => Promise<boolean | undefined>
}

export interface SignatureVerifierOptions extends SignatureReads, SignerCodesOptions {
  readonly domain: ActionDomain
}

/** The chain did not answer a question about a signer. */
export class SignerUnreadable extends Error {
  override readonly name = 'SignerUnreadable'
}

type SignedDigest = readonly [digest: Uint8Array, signature: Hex]

/** A contract's signature may be long, but no longer than a request body. */
const MAX_SIGNATURE_DIGITS = 2 * 65_536

/**
 * A verifier for one matching contract. A signer without code passes only with a strict 65-byte signature, a signer
 * with code only if its contract accepts the signature. When code cannot be read, a correct strict signature passes,
 * because most signers are plain keys, and every other one is unknown. Throws CannotStart without the compiled curve.
 */
export function createSignatureVerifier(options: SignatureVerifierOptions): SignatureVerifier {
  requireNativeCurve()
  const { domain, callIsValidSignature } = options
  const hasher = createActionHasher(domain)
  const codeOf = createSignerCodes(options)

  function verifySigned(signer: Address, signed: SignedDigest): CacheAnswer<SignatureVerdict> {
    const [digest, signature] = signed
    if (!isHexBytes(signature)) {
      return { kind: 'invalid', digest: bytesToHex(digest), path: 'ecdsa' }
    }
    const code = codeOf(signer)
    return code instanceof Promise
      ? code.then((known) => judge(known, signer, signed))
      : judge(code, signer, signed)
  }

  function judge(
    code: SignerCode | undefined,
    signer: Address,
    [digest, signature]: SignedDigest,
  ): CacheAnswer<SignatureVerdict> {
    if (code?.hasCode === true) return askContract(signer, digest, signature)
    const recovered = recoverStrict(digest, hexToBytes(signature))
    if (recovered === signer) {
      if (code !== undefined) code.hasSigned = true
      return { kind: 'valid', byCode: false }
    }
    if (code === undefined) return unreadable(`no answer whether ${signer} has code`)
    return {
      kind: 'invalid',
      digest: bytesToHex(digest),
      path: 'ecdsa',
      ...(recovered !== undefined && { recovered }),
      ...faultOf(digest, signature, signer),
    }
  }

  async function askContract(
    signer: Address,
    digest: Uint8Array,
    signature: Hex,
  ): Promise<SignatureVerdict> {
    const accepted = await callIsValidSignature(signer, bytesToHex(digest), signature)
    if (accepted === undefined) return unreadable(`no answer from the wallet contract ${signer}`)
    return accepted
      ? { kind: 'valid', byCode: true }
      : {
          kind: 'invalid',
          digest: bytesToHex(digest),
          path: 'erc1271',
          ...faultOf(digest, signature, signer),
        }
  }

  return {
    digest: (action) => bytesToHex(hasher.digest(action)),
    verify: (action, signature) => verifySigned(action.signer, [hasher.digest(action), signature]),
    cancelDigest: (terms) => bytesToHex(hasher.cancelDigest(terms)),
    cancelAllDigest: (terms) => bytesToHex(hasher.cancelAllDigest(terms)),
    verifyDigest: (signer, digest, signature) =>
      verifySigned(signer, [hexToBytes(digest), signature]),
    hasCode(address) {
      const code = codeOf(address)
      return code instanceof Promise ? code.then((known) => known?.hasCode) : code?.hasCode
    },
  }
}

function faultOf(digest: Uint8Array, signature: Hex, signer: Address): { fault?: string } {
  const fault = formFault(digest, hexToBytes(signature), signer)
  return fault === undefined ? {} : { fault }
}

/** A pattern for pairs of digits would take several times as long. */
const isHexBytes = (text: string): boolean =>
  text.length <= MAX_SIGNATURE_DIGITS && text.length % 2 === 0 && isHexText(text)

function unreadable(message: string): SignatureVerdict {
  return { kind: 'unknown', cause: new SignerUnreadable(message) }
}

export interface SignatureReadsOptions {
  /** A `judge` client, for calls of wallet contracts. */
  readonly judge: ChainClient
  /** A `probe` client, for everything else. */
  readonly probe: ChainClient
  /** The newest block by now, shared with other readers; absent, code is read at the newest block when the read runs. */
  readonly readHead?: HeadReader
  /**
   * Fails fast while the node does not answer. Calls of wallet contracts bypass it, because they may be slow by
   * themselves.
   */
  readonly breaker: CircuitBreaker
  /** Who asks a wallet on the chain. */
  readonly asker: Pick<WalletQuestion, 'matching' | 'sender'>
}

/**
 * Reads about signers from a node. A wallet that does anything else than to accept has refused; a node that does not answer in
 * time, or cannot ask as the chain asks, leaves the question open.
 */
export function createSignatureReads(options: SignatureReadsOptions): SignatureReads {
  const { judge, probe, breaker, readHead, asker } = options
  const codeAt = async (address: Address): Promise<CodeAtBlock | undefined> => {
    try {
      return await readAtHead(readHead, async (at, blockNumber) => {
        const hasCode = await callBatchOf(probe).hasCode(address, at)
        return { hasCode, ...(blockNumber !== undefined && { blockNumber }) }
      })
    } catch (error) {
      // Without an answer the verdict is unknown.
      return undefinedOnFailure(error)
    }
  }
  return {
    readCode: (address) => breaker.ask(() => codeAt(address)),
    async callIsValidSignature(signer, digest, signature) {
      try {
        return await doesWalletVouch(judge, { signer, digest, signature, ...asker })
      } catch (error) {
        if (!(error instanceof ChainUnreachable)) throw error
        return undefined
      }
    },
  }
}

/** The part of Matching's EIP-712 domain that differs between deployments. */
export interface ActionDomain {
  readonly chainId: number
  readonly verifyingContract: Address
}

/** What an owner or a session key signs to prove a cancel (CAN-011). */
export interface CancelStatement {
  readonly owner: Address
  readonly signer: Address
  readonly nonce: bigint
  /** Unix seconds. */
  readonly expiry: bigint
}

/** What an owner or a session key signs to cancel many orders, or to set a lease. */
export interface CancelAllStatement {
  readonly owner: Address
  readonly signer: Address
  /** What it is for (core/entry/signed-structs.ts). */
  readonly scope: string
  /** Unix seconds. */
  readonly issuedAt: bigint
  readonly expiry: bigint
}

/** Hashes actions as Matching does, and cancels on the same domain; made once per domain. */
export interface ActionHasher {
  /** EIP-712 digest, the 32 bytes that are signed. A field that does not fit its type is a broken invariant. */
  digest(action: Action): Uint8Array
  /** The same for a signed cancel, which stays off chain. */
  cancelDigest(terms: CancelStatement): Uint8Array
  cancelAllDigest(terms: CancelAllStatement): Uint8Array
}

const DOMAIN_TYPE =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'

const WORD = 32
const PREFIX = Buffer.from('1901', 'hex')

/** Computes the domain separator once; each digest then takes three hashes. */
export function createActionHasher(
  domain: ActionDomain,
  separator = domainSeparator(domain),
): ActionHasher {
  // Reused for every action, because digest does not yield.
  const struct = Buffer.alloc(8 * WORD)
  const signed = Buffer.concat([PREFIX, separator, Buffer.alloc(WORD)])
  const signedDigest = (hash: Uint8Array): Uint8Array => {
    signed.set(hash, signed.length - WORD)
    return keccak256(signed)
  }
  struct.set(keccakText(typeString('Action')), 0)
  const cancel = Buffer.alloc(5 * WORD)
  cancel.set(keccakText(typeString('Cancel')), 0)
  const cancelAll = Buffer.alloc(6 * WORD)
  cancelAll.set(keccakText(typeString('CancelAll')), 0)
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
    cancelAllDigest({ owner, signer, scope, issuedAt, expiry }) {
      writeAddress(cancelAll, 1, owner)
      writeAddress(cancelAll, 2, signer)
      cancelAll.set(keccakText(scope), 3 * WORD)
      writeWord(cancelAll, 4, issuedAt)
      writeWord(cancelAll, 5, expiry)
      return signedDigest(keccak256(cancelAll))
    },
  }
}

/** What the domain of every deployment says of itself. */
const MATCHING = { name: 'Matching', version: '1.0' }

/** The domain separator of Matching at the given contract: 32 bytes. */
export function domainSeparator(
  { chainId, verifyingContract }: ActionDomain,
  { name, version } = MATCHING,
): Uint8Array {
  const words = Buffer.alloc(5 * WORD)
  words.set(keccakText(DOMAIN_TYPE), 0)
  words.set(keccakText(name), WORD)
  words.set(keccakText(version), 2 * WORD)
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

/** The other bytes of the word stay zero, because only addresses are written there. */
function writeAddress(target: Buffer, index: number, address: Address): void {
  const from = (index + 1) * WORD - ADDRESS_BYTES
  const written = target.write(address.slice(2), from, ADDRESS_BYTES, 'hex')
  assert(written === ADDRESS_BYTES && address.length === 42, 'not an address')
}
