import { Readable } from 'node:stream'
import type { HttpContext } from './server.js'

/** An answer up to this size is written at once. */
const PIECE_BYTES = 64 * 1024
/** A client that takes an answer slower than this, after the grace period, is disconnected. */
const MIN_BYTES_PER_MS = 64
const GRACE_MS = 10_000

/**
 * Answers with these bytes, in pieces as the client takes them, so that a large answer neither holds up others nor is
 * copied for each client. A client that takes them too slowly is disconnected.
 */
export function answerBytes(
  ctx: Pick<HttpContext, 'res' | 'req' | 'body' | 'length'>,
  parts: readonly Uint8Array[],
): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length <= PIECE_BYTES) {
    ctx.body = Buffer.concat(parts)
    return
  }
  ctx.body = Readable.from(piecesOf(parts, PIECE_BYTES), { objectMode: false })
  ctx.length = length
  const late = () => ctx.req.socket.destroy()
  const timer = setTimeout(late, GRACE_MS + length / MIN_BYTES_PER_MS)
  ctx.res.once('close', () => clearTimeout(timer))
}

/** The bytes of all parts in order, in pieces of at most so many. Nothing is copied. */
export function* piecesOf(parts: readonly Uint8Array[], bytes: number): Generator<Uint8Array> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += bytes) yield part.subarray(at, at + bytes)
  }
}
