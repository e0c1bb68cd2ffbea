import type { Address } from '../action.js'
import { asJsonObject, fieldOf, parseAddress } from '../json.js'
import { FRAME_NONCE_PATTERN, MAX_SIGNATURE_BYTES } from '../limits.js'

/** A message-signed frame with its fields read; nothing is verified yet. */
export interface AuthFrame {
  /** As sent, checksummed or not: the signed text may repeat it so. */
  readonly address: string
  /** The session key that has signed for the address, in lower case; absent: the address itself has. */
  readonly signer?: Address
  readonly signature: string
  readonly nonce: string
  /** Unix seconds. */
  readonly issuedAt: number
  readonly expiry: number
}

/** Longest time a frame for the order history, or for the socket, may be valid, in seconds (AUT-029, AUT-030). */
export const HISTORY_FRAME_MAX_SEC = 86_400
export const SOCKET_FRAME_MAX_SEC = 300
/** How far a client's clock may be ahead. */
export const FRAME_CLOCK_SKEW_SEC = 60

/** Of more than a plain key gives, so that a wrapped signature is refused by name. */
const MAX_SIGNATURE_TEXT = 2 + 2 * MAX_SIGNATURE_BYTES
const NONCE = new RegExp(FRAME_NONCE_PATTERN, 'u')

/** Why the session key of a frame proves nothing (AUT-041). */
export const KEY_ENDED =
  'signer_address is no session key of address, or its registration has ended'
export const KEY_UNREADABLE = 'the session key could not be checked: retry shortly'

/** Reads a frame's fields, or returns the reason for the refusal. */
export function readAuthFrame(
  value: unknown,
): { readonly frame: AuthFrame } | { readonly reason: string } {
  const fields = asJsonObject(value)
  if (fields === undefined) return { reason: 'the frame must be a JSON object' }
  const [address, signature, nonce, issuedAt, expiry] = [
    'address',
    'signature',
    'nonce',
    'issued_at',
    'expiry',
  ].map((name) => fieldOf(fields, name))
  if (typeof address !== 'string' || parseAddress(address) === undefined) {
    return { reason: 'address must be 0x followed by 40 hex digits' }
  }
  const sentSigner = fieldOf(fields, 'signer_address')
  const signer = sentSigner === undefined ? undefined : parseAddress(sentSigner)
  if (sentSigner !== undefined && signer === undefined) {
    return { reason: 'signer_address must be 0x followed by 40 hex digits' }
  }
  if (typeof signature !== 'string' || signature.length > MAX_SIGNATURE_TEXT) {
    return { reason: 'signature must be 0x followed by 130 hex digits' }
  }
  if (typeof nonce !== 'string') return { reason: 'nonce is required' }
  if (!NONCE.test(nonce)) {
    return { reason: 'nonce must be 1 to 128 characters without control characters' }
  }
  if (!isUnixSec(issuedAt)) return { reason: 'issued_at must be an integer in unix seconds' }
  if (!isUnixSec(expiry)) return { reason: 'expiry must be an integer in unix seconds' }
  const named = signer === undefined || signer === parseAddress(address) ? {} : { signer }
  return { frame: { address, ...named, signature, nonce, issuedAt, expiry } }
}

/** Why a frame is not valid at this unix second, undefined when it is. `maxSec` is the longest validity allowed. */
export function frameTimeFault(
  { issuedAt, expiry }: AuthFrame,
  { nowSec, maxSec }: { readonly nowSec: number; readonly maxSec: number },
): string | undefined {
  if (issuedAt > nowSec + FRAME_CLOCK_SKEW_SEC) return 'issued_at is in the future'
  if (expiry <= nowSec) return 'the frame has expired'
  if (expiry <= issuedAt) return 'expiry must be after issued_at'
  if (expiry - issuedAt > maxSec) return `the frame may be valid for at most ${maxSec} seconds`
  return undefined
}

const isUnixSec = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** What a frame opens; the two texts differ, so that a frame for one never opens the other. */
export type FramePurpose = 'history' | 'socket'

/** The words of the signed text that a deployment chooses (AUT-035). */
export interface FrameWords {
  /** The domain that asks for the signature. */
  readonly domain: string
  /** What the text calls the product; `service` by default. */
  readonly product: string
}

/** The text that is signed for a frame, with the address written as given; no trailing newline. */
export function frameMessage(
  purpose: FramePurpose,
  { domain, product }: FrameWords,
  frame: Pick<AuthFrame, 'address' | 'nonce' | 'issuedAt' | 'expiry'>,
): string {
  const wanted = {
    history: `view your ${product} order history.`,
    socket: `authenticate for the ${product} markets WebSocket.`,
  }
  return [
    `${domain} wants you to ${wanted[purpose]}`,
    `Address: ${frame.address}`,
    `Nonce: ${frame.nonce}`,
    `Issued At: ${frame.issuedAt}`,
    `Expiration Time: ${frame.expiry}`,
  ].join('\n')
}
