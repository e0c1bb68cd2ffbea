import type { Address, Hex } from '../core/action.js'
import { frameMessage, type FramePurpose } from '../core/entry/auth-frame.js'
import { randomNonce } from './sign-order.js'

/** The holder of the key: a viem local account, or a wallet with the same method (`personal_sign`). */
export interface MessageSigner {
  readonly address: Address
  signMessage(text: { readonly message: string }): Promise<Hex>
}

export interface FrameOptions {
  /** `history`: the owner's orders and fills over REST; `socket`: the owner's orders on the WebSocket. */
  readonly purpose: FramePurpose
  /** The venue's auth domain, for example `localhost`. */
  readonly domain: string
  /** The product that the signed text names; default `service`. */
  readonly product?: string
  /** Whose session key the signer is: the venue then takes the frame as this owner's. Default: the signer speaks for itself. */
  readonly owner?: Address
  /** Validity in seconds: at most 86,400 for `history` and 300 for `socket`; default 240. */
  readonly validSec?: number
  /** Unix seconds; default now. */
  readonly issuedAtSec?: number
}

/** A signed frame as the venue reads it; on the WebSocket it is sent with `op: 'auth'`, once. */
export interface SignedFrame {
  readonly address: Address
  readonly signature: Hex
  readonly nonce: string
  /** Unix seconds. */
  readonly issued_at: number
  readonly expiry: number
  /** The session key that has signed; absent when `address` has. */
  readonly signer_address?: Address
}

const VALID_SEC = 240

/**
 * Signs a frame that proves the signer's address, or that of the owner who has registered the signer as a session key. It
 * authorizes no order and no transfer.
 */
export async function signFrame(
  signer: MessageSigner,
  options: FrameOptions,
): Promise<SignedFrame> {
  const { purpose, domain, product = 'service', validSec = VALID_SEC } = options
  const { owner: address = signer.address } = options
  const nonce = randomNonce().toString()
  const issued_at = options.issuedAtSec ?? Math.floor(Date.now() / 1_000)
  const expiry = issued_at + validSec
  const frame = { address, nonce, issuedAt: issued_at, expiry }
  const message = frameMessage(purpose, { domain, product }, frame)
  const signature = await signer.signMessage({ message })
  const isOwn = address.toLowerCase() === signer.address.toLowerCase()
  const signed = { address, signature, nonce, issued_at, expiry }
  return isOwn ? signed : { ...signed, signer_address: signer.address }
}

/** The frame as the `X-Service-Auth` header carries it: base64url without padding. */
export function frameHeader(frame: SignedFrame): string {
  const bytes = new TextEncoder().encode(JSON.stringify(frame))
  const base64 = btoa(String.fromCharCode(...bytes))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
