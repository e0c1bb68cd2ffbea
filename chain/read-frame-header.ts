import type { Address } from '../core/action.js'
import { readAuthFrame } from '../core/auth-frame.js'
import type { FrameWords } from '../core/frame-message.js'
import { decodeFrameHeader, verifyFrame } from './frame-message.js'

/** Whom an `X-Service-Auth` header speaks for, lower-cased, or why for nobody; malformed is what is no JSON at all. */
export type FrameReading =
  { readonly owner: Address } | { readonly reason: string; readonly isMalformed: boolean }

export interface FrameReaderDeps {
  readonly words: FrameWords
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** Reads such a header with the frame of the order history, which a client has anyway; one serves until it expires. */
export function readFrameHeader(header: string, { words, nowMs }: FrameReaderDeps): FrameReading {
  const decoded = decodeFrameHeader(header)
  if (decoded === undefined) return { reason: 'must be base64url-encoded JSON', isMalformed: true }
  const read = readAuthFrame(decoded)
  if ('reason' in read) return { reason: read.reason, isMalformed: false }
  const nowSec = Math.floor(nowMs() / 1_000)
  const verified = verifyFrame(read.frame, { purpose: 'history', words, nowSec })
  return 'reason' in verified ? { reason: verified.reason, isMalformed: false } : verified
}
