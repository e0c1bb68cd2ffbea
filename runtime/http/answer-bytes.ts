import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { HttpContext } from './server.js'

/** An answer up to this size is written at once. */
const PIECE_BYTES = 64 * 1024
/** Of all large answers of the process together; the kernel's copies alone would else take most of a processor. */
const BYTES_PER_MS = 64 * 1024
/** What was not used for so long may be written without a pause. */
const SAVED_MS = 150

/**
 * Answers with these bytes, in pieces as the client takes them and each in a turn of its own, so that a large answer
 * neither holds up others nor is copied for each client. All such answers share a rate, in the order of their pieces.
 */
export function answerBytes(
  ctx: Pick<HttpContext, 'body' | 'length'>,
  parts: readonly Uint8Array[],
): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length <= PIECE_BYTES) {
    ctx.body = Buffer.concat(parts)
    return
  }
  ctx.body = Readable.from(inTurns(piecesOf(parts, PIECE_BYTES)), { objectMode: false })
  ctx.length = length
}

async function* inTurns(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield piece
    await nextTurn()
    await untilDue(piece.length)
  }
}

let usedUpToMs = 0

/** Ends when that many bytes more may have been written. */
async function untilDue(bytes: number): Promise<void> {
  const nowMs = performance.now()
  usedUpToMs = Math.max(usedUpToMs, nowMs - SAVED_MS) + bytes / BYTES_PER_MS
  if (usedUpToMs > nowMs) await delay(usedUpToMs - nowMs)
}

/** The bytes of all parts in order, in pieces of at most so many. Nothing is copied. */
export function* piecesOf(parts: readonly Uint8Array[], bytes: number): Generator<Uint8Array> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += bytes) yield part.subarray(at, at + bytes)
  }
}

/** Those that wait for a turn of the event loop, in order. */
const waiting: (() => void)[] = []

/**
 * Resolves in a turn of the event loop in which no other caller continues, in the order of the calls: long work that is
 * divided by it lets what has arrived meanwhile pass. As many wait as the callers allow.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(takeTurn)
  })

function takeTurn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(takeTurn)
}
