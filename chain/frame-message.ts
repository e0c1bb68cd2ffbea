import type { Address, Hex } from '../core/action.js'
import {
  type AuthFrame,
  HISTORY_FRAME_MAX_SEC,
  SOCKET_FRAME_MAX_SEC,
  frameTimeFault,
} from '../core/auth-frame.js'
import { type FramePurpose, type FrameWords, frameMessage } from '../core/frame-message.js'
import { keccak256 } from './keccak.js'
import { recoverStrict } from './recover-strict.js'
import { hexToBytes } from './typed-data.js'

export interface FrameCheck {
  readonly purpose: FramePurpose
  readonly words: FrameWords
  /** Unix seconds. */
  readonly nowSec: number
}

const MAX_SEC = { history: HISTORY_FRAME_MAX_SEC, socket: SOCKET_FRAME_MAX_SEC }
const utf8 = new TextDecoder('utf-8', { fatal: true })
const SIGNATURE = /^0x[0-9a-fA-F]{130}$/

/** Longest header text that is read; a frame takes about 400 characters. */
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
 * The owner that a frame speaks for, lower-cased, or why it speaks for nobody. Only a plain key's strict signature
 * counts (65 bytes, v 27 or 28, low s); the text may hold the address as sent or lower-cased (decision A9). Whether a
 * nonce was used before is for the caller.
 */
export function verifyFrame(
  frame: AuthFrame,
  { purpose, words, nowSec }: FrameCheck,
): { readonly owner: Address } | { readonly reason: string } {
  const late = frameTimeFault(frame, { nowSec, maxSec: MAX_SEC[purpose] })
  if (late !== undefined) return { reason: late }
  if (!SIGNATURE.test(frame.signature)) {
    return { reason: 'signature must be 0x followed by 130 hex digits' }
  }
  const signature = hexToBytes(frame.signature as Hex)
  const owner = frame.address.toLowerCase() as Address
  const signedBy = (address: string): boolean => {
    const message = frameMessage(purpose, words, { ...frame, address })
    return recoverStrict(personalDigest(message), signature) === owner
  }
  const authorized = signedBy(frame.address) || (frame.address !== owner && signedBy(owner))
  return authorized ? { owner } : { reason: 'signature does not match address' }
}

/** The digest that EIP-191 `personal_sign` signs for a text. */
export function personalDigest(message: string): Uint8Array {
  const text = Buffer.from(message, 'utf8')
  return keccak256(Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`, 'utf8'), text)
}
