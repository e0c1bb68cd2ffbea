import { hashTypedData } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import type { CancelAllStatement, CancelStatement } from '../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../core/action.js'
import { frameMessage } from '../../core/entry/auth-frame.js'
import { testDomain, type SigningDomain } from './builders.js'
import { testFrameWords } from './intake-stage.js'

const CANCEL_TYPES = {
  Cancel: [
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'expiry', type: 'uint256' },
  ],
} as const

/** The digest of a cancel as viem makes it, which shares no code with the venue's own. */
export function viemCancelDigest(terms: CancelStatement, domain: SigningDomain = testDomain): Hex {
  return hashTypedData({
    domain: { name: 'Matching', version: '1.0', ...domain },
    types: CANCEL_TYPES,
    primaryType: 'Cancel',
    message: terms,
  })
}

export const addressOf = (privateKey: Hex): Address =>
  privateKeyToAccount(privateKey).address.toLowerCase() as Address

export interface CancelToSign {
  readonly owner: Address
  readonly nonce: string
  readonly expirySec: number
  readonly privateKey: Hex
  /** The key's own address by default. */
  readonly signer?: Address
}

/** The body of a cancel with its proof. */
export async function signedCancel(cancel: CancelToSign): Promise<Record<string, unknown>> {
  const { owner, nonce, expirySec, privateKey } = cancel
  const signer = cancel.signer ?? addressOf(privateKey)
  const terms = { owner, signer, nonce: BigInt(nonce), expiry: BigInt(expirySec) }
  const signature = await sign({ hash: viemCancelDigest(terms), privateKey, to: 'hex' })
  return { owner_address: owner, nonce, signer_address: signer, expiry: expirySec, signature }
}

/** An `X-Service-Auth` header of the key, as clients make it for the order history; for an owner, as the owner's session key. */
export async function serviceAuth(
  privateKey: Hex,
  issuedAt: number,
  owner?: Address,
): Promise<string> {
  const account = privateKeyToAccount(privateKey)
  const named = owner === undefined ? {} : { signer_address: account.address }
  const frame = {
    address: owner ?? account.address,
    nonce: 'n-1',
    issuedAt,
    expiry: issuedAt + 600,
  }
  const message = frameMessage('history', testFrameWords, frame)
  const signature = await account.signMessage({ message })
  const { address, nonce, expiry } = frame
  const text = JSON.stringify({ address, ...named, signature, nonce, issued_at: issuedAt, expiry })
  return Buffer.from(text).toString('base64url')
}

const CANCEL_ALL_TYPES = {
  CancelAll: [
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'scope', type: 'string' },
    { name: 'issuedAt', type: 'uint256' },
    { name: 'expiry', type: 'uint256' },
  ],
} as const

/** The digest of a cancel of many orders as viem makes it. */
export function viemCancelAllDigest(
  terms: CancelAllStatement,
  domain: SigningDomain = testDomain,
): Hex {
  return hashTypedData({
    domain: { name: 'Matching', version: '1.0', ...domain },
    types: CANCEL_ALL_TYPES,
    primaryType: 'CancelAll',
    message: terms,
  })
}

export interface ScopeToSign {
  readonly owner: Address
  readonly scope: string
  readonly privateKey: Hex
  /** Unix seconds. */
  readonly issuedAtSec: number
  /** A minute later by default. */
  readonly expirySec?: number
  /** The key's own address by default. */
  readonly signer?: Address
}

/** The fields of a body that prove a cancel of many orders. */
export async function signedScope(scoped: ScopeToSign): Promise<Record<string, unknown>> {
  const { owner, scope, privateKey, issuedAtSec, expirySec = issuedAtSec + 60 } = scoped
  const signer = scoped.signer ?? addressOf(privateKey)
  const times = { issuedAt: BigInt(issuedAtSec), expiry: BigInt(expirySec) }
  const hash = viemCancelAllDigest({ owner, signer, scope, ...times })
  const signature = await sign({ hash, privateKey, to: 'hex' })
  return {
    owner_address: owner,
    signer_address: signer,
    signature,
    issued_at: issuedAtSec,
    expiry: expirySec,
  }
}
