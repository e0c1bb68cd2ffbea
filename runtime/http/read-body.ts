import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import getRawBody from 'raw-body'
import { refusals, type Refusal } from '../../core/entry/refusals.js'

/** Bounds of a request body. */
export interface BodyLimits {
  readonly maxBytes: number
  /** Deepest nesting of objects and arrays. */
  readonly maxDepth: number
  /** Answer to a body above `maxBytes`; defaults to `refusals.bodyTooLarge`. */
  readonly tooLarge?: Refusal
}

/** An oversized body is discarded up to these bounds, so that a client that sends before it reads sees the refusal. */
const MAX_DISCARDED_BYTES = 1024 * 1024
const MAX_DISCARDING_MS = 250

/** The client disconnected before its body was complete. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted'
}

type RefusedBody = { readonly refusal: Refusal }

/**
 * Reads a request body: UTF-8 without byte-order mark, not nested deeper than allowed, so that it can be parsed safely.
 * Whether it is JSON is not checked. Throws RequestAborted.
 */
export async function readBody(
  req: IncomingMessage,
  { maxBytes, maxDepth, tooLarge = refusals.bodyTooLarge }: BodyLimits,
): Promise<{ readonly body: Buffer } | RefusedBody> {
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    return { refusal: refusals.contentEncoding }
  }
  const bytes = await readBytes(req, maxBytes)
  if (bytes === undefined) {
    await discard(req)
    return { refusal: tooLarge }
  }
  const body = withoutByteOrderMark(bytes)
  const isSafe = isUtf8(body) && !nestsDeeperThan(body, maxDepth)
  return isSafe ? { body } : { refusal: refusals.invalidJsonBody }
}

/** The value of a JSON text; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The fields of a JSON object; undefined when the text is anything else. */
export function jsonObjectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : undefined
}

/** The whole body; undefined when it is too large, with the rest of it unread. */
async function readBytes(req: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  try {
    return await getRawBody(req, { length: req.headers['content-length'] ?? null, limit })
  } catch (error) {
    if ((error as { readonly type?: string }).type === 'entity.too.large') return undefined
    throw new RequestAborted('the client disconnected', { cause: error })
  }
}

function discard(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    const done = (): void => {
      clearTimeout(timer)
      req.off('data', count).off('end', done).off('close', done)
      req.pause()
      resolve()
    }
    const count = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > MAX_DISCARDED_BYTES) done()
    }
    const timer = setTimeout(done, MAX_DISCARDING_MS)
    req.on('data', count).on('end', done).on('close', done)
    req.resume()
  })
}

const withoutByteOrderMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

/** Whether a JSON text nests deeper. Checked before parsing: a deep value overflows the stack of whatever prints it later. */
export function nestsDeeperThan(json: Buffer, limit: number): boolean {
  return hasMoreBrackets(json, limit) && opensMoreThan(json, limit)
}

/** A cheap first test: a body with at most `limit` opening brackets cannot nest deeper than that. */
function hasMoreBrackets(json: Buffer, limit: number): boolean {
  let found = 0
  for (const bracket of [OPEN_BRACE, OPEN_BRACKET]) {
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) {
      found += 1
      if (found > limit) return true
    }
  }
  return false
}

/** Counts brackets outside strings. In UTF-8 no byte of a longer character equals one of the bytes compared here. */
function opensMoreThan(json: Buffer, limit: number): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i += 1) {
    const char = json[i]
    if (inString) {
      if (char === BACKSLASH) i += 1
      else if (char === QUOTE) inString = false
    } else if (char === QUOTE) inString = true
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      depth += 1
      if (depth > limit) return true
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth -= 1
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
