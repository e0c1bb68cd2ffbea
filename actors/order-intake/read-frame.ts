import { decodeFrameHeader, verifyFrame } from '../../chain/frame-message.js'
import type { FrameWords } from '../../core/frame-message.js'
import type { Address } from '../../core/action.js'
import { readAuthFrame } from '../../core/auth-frame.js'

/** Whom an `X-Service-Auth` header speaks for, lower-cased, or why for nobody. */
export type FrameReading = { readonly owner: Address } | { readonly reason: string }

/** Reads such headers with the frame of the order history, which a client has anyway; one serves until it expires. */
export function createFrameReader(
  words: FrameWords,
  nowMs: () => number,
): (header: string) => FrameReading {
  return (header) => {
    const decoded = decodeFrameHeader(header)
    if (decoded === undefined) return { reason: 'must be base64url-encoded JSON' }
    const read = readAuthFrame(decoded)
    if ('reason' in read) return read
    const nowSec = Math.floor(nowMs() / 1_000)
    return verifyFrame(read.frame, { purpose: 'history', words, nowSec })
  }
}
