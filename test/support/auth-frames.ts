import { privateKeyToAccount } from 'viem/accounts'
import type { Hex } from '../../core/action.js'
import { frameMessage, type FramePurpose } from '../../core/entry/auth-frame.js'

/** What differs from a good frame; times are unix seconds. */
export interface FrameTerms {
  readonly privateKey?: Hex
  /** The owner whose session key signs. */
  readonly owner?: Hex
  readonly purpose?: FramePurpose
  readonly domain?: string
  readonly product?: string
  readonly nonce?: string
  readonly issuedAt?: number
  readonly expiry?: number
  /** How the address is written, in the frame and in the text that is signed. */
  readonly spelling?: (address: string) => string
  /** What becomes of the text before it is signed. */
  readonly alter?: (message: string) => string
}

/** The two users of tests of private data. */
export const alicesKey: Hex = `0x${'a1'.repeat(32)}`
export const bobsKey: Hex = `0x${'b0'.repeat(32)}`
export const addressOf = (privateKey: Hex): Hex =>
  privateKeyToAccount(privateKey).address.toLowerCase() as Hex

let frames = 0

/** An `auth` frame as a client sends it, good by default. */
export async function signedAuth(terms: FrameTerms = {}): Promise<Record<string, unknown>> {
  const { privateKey = alicesKey, purpose = 'socket' } = terms
  const { domain = 'localhost', product = 'service', spelling = (address) => address } = terms
  const account = privateKeyToAccount(privateKey)
  const issuedAt = terms.issuedAt ?? Math.floor(Date.now() / 1_000)
  const frame = {
    address: spelling(terms.owner ?? account.address),
    nonce: terms.nonce ?? `nonce-${process.pid}-${++frames}`,
    issuedAt,
    expiry: terms.expiry ?? issuedAt + 240,
  }
  const message = frameMessage(purpose, { domain, product }, frame)
  const signature = await account.signMessage({ message: terms.alter?.(message) ?? message })
  const { address, nonce, expiry } = frame
  const named = terms.owner === undefined ? {} : { signer_address: account.address }
  return { op: 'auth', address, ...named, signature, nonce, issued_at: issuedAt, expiry }
}
