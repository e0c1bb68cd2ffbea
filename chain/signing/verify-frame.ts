import type { Address, Hex } from '../../core/action.js'
import {
  frameMessage,
  frameTimeFault,
  HISTORY_FRAME_MAX_SEC,
  readAuthFrame,
  SOCKET_FRAME_MAX_SEC,
  type AuthFrame,
  type FramePurpose,
  type FrameWords,
} from '../../core/entry/auth-frame.js'
import { hexToBytes, keccak256, recoverStrict } from './keys.js'
import { formFault } from './signature-form.js'

export interface FrameCheck {
  readonly purpose: FramePurpose
  readonly words: FrameWords
  /** Unix seconds. */
  readonly nowSec: number
}

const MAX_SEC = { history: HISTORY_FRAME_MAX_SEC, socket: SOCKET_FRAME_MAX_SEC }
const utf8 = new TextDecoder('utf-8', { fatal: true })
const SIGNATURE = /^0x[0-9a-fA-F]{130}$/
const HEX = /^0x([0-9a-fA-F]{2})+$/

/** The longest header that is read; a frame takes about 400 characters. */
const MAX_HEADER_LENGTH = 2048

/** The JSON value of an `X-Service-Auth` header, base64url with or without padding; undefined when it is neither. */
export function decodeFrameHeader(header: string): unknown {
  if (header.length > MAX_HEADER_LENGTH || !/^[A-Za-z0-9_-]+={0,2}$/.test(header)) return undefined
  try {
    return JSON.parse(utf8.decode(Buffer.from(header, 'base64url')))
  } catch {
    return undefined
  }
}

/**
 * Whom a signature speaks for, in lower case: the owner, or a key that proves the owner only once it is known to be a session key
 * of the owner (`proveFrame`).
 */
export type FrameProof =
  { readonly owner: Address } | { readonly keyOf: Address; readonly key: Address }

/**
 * Who has signed a frame, or the reason for refusal. Only a plain key's strict signature is accepted (65 bytes, v 27 or 28,
 * low s). The signed text has the owner's address, as sent or in lower case (AUT-026), also where a session key signs
 * (AUT-040). The caller looks the key up, and whether the nonce was used before. The reason names the mistake in the bytes of a
 * signature that is right otherwise, and a signer that was named wrongly.
 */
export function verifyFrame(
  frame: AuthFrame,
  { purpose, words, nowSec }: FrameCheck,
): FrameProof | { readonly reason: string } {
  const late = frameTimeFault(frame, { nowSec, maxSec: MAX_SEC[purpose] })
  if (late !== undefined) return { reason: late }
  const signature = HEX.test(frame.signature) ? hexToBytes(frame.signature as Hex) : undefined
  if (signature === undefined) return NOT_A_SIGNATURE
  const owner = frame.address.toLowerCase() as Address
  const { signer = owner } = frame
  const digestOf = (address: string): Uint8Array =>
    personalDigest(frameMessage(purpose, words, { ...frame, address }))
  const digests = (frame.address === owner ? [owner] : [frame.address, owner]).map(digestOf)
  const isSignedBy = (key: Address): boolean =>
    digests.some((digest) => recoverStrict(digest, signature) === key)
  if (isSignedBy(signer)) return signer === owner ? { owner } : { keyOf: owner, key: signer }
  const unmatched = `signature does not match ${signer === owner ? 'address' : 'signer_address'}`
  for (const digest of digests) {
    const fault = formFault(digest, signature, signer)
    if (fault !== undefined) return { reason: `${unmatched}: it ${fault}` }
  }
  if (signer !== owner && isSignedBy(owner)) {
    return { reason: `${unmatched}: address itself has signed, so leave signer_address out` }
  }
  if (signer !== owner && recoverStrict(digestOf(signer), signature) === signer) {
    return { reason: `${unmatched}: the signed text names the key, where it must name address` }
  }
  return SIGNATURE.test(frame.signature) ? { reason: unmatched } : NOT_A_SIGNATURE
}

const NOT_A_SIGNATURE = { reason: 'signature must be 0x followed by 130 hex digits' }

/** The digest that EIP-191 `personal_sign` signs for a text. */
export function personalDigest(message: string): Uint8Array {
  const text = Buffer.from(message, 'utf8')
  return keccak256(Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`, 'utf8'), text)
}

/** Who has signed an `X-Service-Auth` header, or the reason for refusal; malformed if not JSON. */
export type FrameReading = FrameProof | { readonly reason: string; readonly isMalformed: boolean }

export interface FrameReaderDeps {
  readonly words: FrameWords
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** Verifies a header with a frame for the order history, which may be reused until it expires. */
export function readFrameHeader(header: string, { words, nowMs }: FrameReaderDeps): FrameReading {
  const decoded = decodeFrameHeader(header)
  if (decoded === undefined) return { reason: 'must be base64url-encoded JSON', isMalformed: true }
  const read = readAuthFrame(decoded)
  if ('reason' in read) return { reason: read.reason, isMalformed: false }
  const nowSec = Math.floor(nowMs() / 1_000)
  const verified = verifyFrame(read.frame, { purpose: 'history', words, nowSec })
  return 'reason' in verified ? { reason: verified.reason, isMalformed: false } : verified
}
