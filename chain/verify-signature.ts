import type { Action, Address, Hex } from '../core/action.js'
import { isHexText } from '../core/words.js'
import { type Answer, createExpiringCache } from './expiring-cache.js'
import { recoverStrict } from './recover-strict.js'
import { bytesToHex, createActionHasher, hexToBytes } from './typed-data.js'
import type { ActionDomain, CancelTerms } from './typed-data.js'

/** The venue's answer about a signature; `unknown` when the chain could not be asked (decision C9). */
export type SignatureVerdict =
  | { readonly kind: 'valid'; readonly path: 'ecdsa' | 'erc1271' }
  | {
      readonly kind: 'invalid'
      readonly digest: Hex
      /** Absent when the bytes recover to nobody or a contract was asked. */
      readonly recovered?: Address
      readonly path: 'ecdsa' | 'erc1271'
    }
  | { readonly kind: 'unknown'; readonly cause: Error }

/** Judges a signed action exactly as the matching contract will: code at the signer means ERC-1271 only. */
export interface SignatureVerifier {
  /** EIP-712 digest of an action on this venue's domain. */
  readonly digest: (action: Action) => Hex
  /** Never rejects for what the chain or the client does; the signature may be any text. */
  readonly verify: (action: Action, signature: Hex) => Answer<SignatureVerdict>
  /** Whether there is code at the address, at most a block old; undefined when the chain did not say. */
  readonly hasCode: (address: Address) => Answer<boolean | undefined>
  /** EIP-712 digest of a cancel on this venue's domain. */
  readonly cancelDigest: (terms: CancelTerms) => Hex
  /** Judges a signature over a digest of this venue as `verify` does. */
  readonly verifyDigest: (signer: Address, digest: Hex, signature: Hex) => Answer<SignatureVerdict>
}

/** The two questions that only the chain can answer; undefined when it did not. */
export interface SignatureReads {
  /** Whether there is code at the address now. */
  readonly readCode: (address: Address) => Promise<boolean | undefined>
  /** Whether the contract at `signer` answers isValidSignature with the magic word. */
  readonly callIsValidSignature: (
    signer: Address,
    digest: Hex,
    signature: Hex,
  ) => Promise<boolean | undefined>
}

export interface SignatureVerifierOptions extends SignatureReads {
  readonly domain: ActionDomain
  /** How long an answer about code is kept; one block of the target chain unless told. */
  readonly codeCacheMs?: number
}

/** The chain could not be asked about a signer. */
export class SignerUnreadable extends Error {
  override readonly name = 'SignerUnreadable'
}

const BLOCK_TIME_MS = 2_000
const CODE_CACHE_ENTRIES = 10_000
/** A contract's signature may be long, but not longer than a request body. */
const MAX_SIGNATURE_DIGITS = 2 * 65_536

/**
 * A verifier for one matching contract. A signer without code passes only with a strict 65-byte signature; a signer
 * with code only if its contract says so. While code is unreadable a correct strict signature passes, since a plain key
 * is by far the likeliest, and everything else is unknown.
 */
export function createSignatureVerifier(options: SignatureVerifierOptions): SignatureVerifier {
  const { domain, codeCacheMs = BLOCK_TIME_MS, readCode, callIsValidSignature } = options
  const hasher = createActionHasher(domain)
  const codes = createExpiringCache<boolean>({
    ttlMs: codeCacheMs,
    maxEntries: CODE_CACHE_ENTRIES,
  })

  const hasCode = (address: Address) => codes.get(address, () => readCode(address))

  function verifyDigest(signer: Address, digest: Hex, signature: Hex): Answer<SignatureVerdict> {
    if (!isHexBytes(signature)) {
      return { kind: 'invalid', digest, path: 'ecdsa' }
    }
    const contract = hasCode(signer)
    return contract instanceof Promise
      ? contract.then((known) => judge(known, signer, digest, signature))
      : judge(contract, signer, digest, signature)
  }

  function judge(
    contract: boolean | undefined,
    signer: Address,
    digest: Hex,
    signature: Hex,
  ): Answer<SignatureVerdict> {
    if (contract === true) return askContract(signer, digest, signature)
    const recovered = recoverStrict(hexToBytes(digest), hexToBytes(signature))
    if (recovered === signer) return { kind: 'valid', path: 'ecdsa' }
    if (contract === undefined) return unreadable(`no answer whether ${signer} has code`)
    return { kind: 'invalid', digest, path: 'ecdsa', ...(recovered !== undefined && { recovered }) }
  }

  async function askContract(signer: Address, digest: Hex, sig: Hex): Promise<SignatureVerdict> {
    const accepted = await callIsValidSignature(signer, digest, sig)
    if (accepted === undefined) return unreadable(`no answer from the wallet contract ${signer}`)
    return accepted
      ? { kind: 'valid', path: 'erc1271' }
      : { kind: 'invalid', digest, path: 'erc1271' }
  }

  const digest = (action: Action): Hex => bytesToHex(hasher.digest(action))
  return {
    digest,
    verify: (action, signature) => verifyDigest(action.signer, digest(action), signature),
    cancelDigest: (terms) => bytesToHex(hasher.cancelDigest(terms)),
    verifyDigest,
    hasCode,
  }
}

/** Pairs of digits in a pattern would cost several times as much as counting all of them. */
const isHexBytes = (text: string): boolean =>
  text.length <= MAX_SIGNATURE_DIGITS && text.length % 2 === 0 && isHexText(text)

function unreadable(message: string): SignatureVerdict {
  return { kind: 'unknown', cause: new SignerUnreadable(message) }
}
