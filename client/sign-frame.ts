import type { Address, Hex } from '../core/action.js'
import { type FramePurpose, frameMessage } from '../core/frame-message.js'
import { randomNonce } from './sign-order.js'

/** Whoever holds the key: a viem local account fits, so does a wallet behind the same method (`personal_sign`). */
export interface MessageSigner {
  readonly address: Address
  signMessage(text: { readonly message: string }): Promise<Hex>
}

export interface FrameOptions {
  /** One's order history and fills over REST, or one's orders on the socket. */
  readonly purpose: FramePurpose
  /** The venue's auth domain, for example `localhost`. */
  readonly domain: string
  /** What the venue calls its product in the signed text; `service` unless told. */
  readonly product?: string
  /** How long the frame is good for: at most 86,400 for the history and 300 for the socket; 240 unless told. */
  readonly validSec?: number
  /** Unix seconds; now unless told. */
  readonly issuedAtSec?: number
}

/** A frame as the venue reads it; a socket takes it with `op: 'auth'`, once. */
export interface AuthFrameRecord {
  readonly address: Address
  readonly signature: Hex
  readonly nonce: string
  /** Unix seconds. */
  readonly issued_at: number
  readonly expiry: number
}

const VALID_SEC = 240

/** Signs a frame that proves who one is; it moves no money and places no order. */
export async function signFrame(
  signer: MessageSigner,
  options: FrameOptions,
): Promise<AuthFrameRecord> {
  const { purpose, domain, product = 'service', validSec = VALID_SEC } = options
  const { address } = signer
  const nonce = randomNonce().toString()
  const issued_at = options.issuedAtSec ?? Math.floor(Date.now() / 1_000)
  const expiry = issued_at + validSec
  const frame = { address, nonce, issuedAt: issued_at, expiry }
  const message = frameMessage(purpose, { domain, product }, frame)
  const signature = await signer.signMessage({ message })
  return { address, signature, nonce, issued_at, expiry }
}

/** The frame as the `X-Service-Auth` header carries it: base64url without padding. */
export function frameHeader(frame: AuthFrameRecord): string {
  const bytes = new TextEncoder().encode(JSON.stringify(frame))
  const base64 = btoa(String.fromCharCode(...bytes))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
