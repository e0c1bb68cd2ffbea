import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { type Refusal, refusals } from '../core/refusals.js'
import type { GatewayContext } from './context.js'

/** Largest request body. */
export const MAX_BODY_BYTES = 64 * 1024
/** Deepest nesting of a body; an order needs two levels. */
export const MAX_BODY_DEPTH = 8

/** A body that is too large is discarded up to these bounds before it is refused, so that the refusal is read. */
const MAX_DISCARDED_BYTES = 1024 * 1024
const MAX_DISCARDING_MS = 250

type Refused = { readonly refusal: Refusal }

/**
 * Reads the request's body as bytes of UTF-8 that may be parsed without harm, or says why it is refused; whether they are
 * JSON is left to whoever is asked about them. Throws when the client goes away.
 */
export async function readBody({
  req,
  state,
}: GatewayContext): Promise<{ readonly body: Buffer } | Refused> {
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    return { refusal: refusals.contentEncoding }
  }
  const bytes = await readBytes(req)
  if (bytes === undefined) {
    await discard(req)
    return { refusal: refusals.bodyTooLarge }
  }
  state.bodyRead = true
  const body = withoutMark(bytes)
  const isHarmless = isUtf8(body) && !nestsDeeperThan(body, MAX_BODY_DEPTH)
  return isHarmless ? { body } : { refusal: refusals.invalidJsonBody }
}

/** Reads the request's body as the text of a JSON object, or says why it is refused. Throws when the client goes away. */
export async function readJsonBody(
  ctx: GatewayContext,
): Promise<{ readonly text: string } | Refused> {
  const read = await readBody(ctx)
  if ('refusal' in read) return read
  const text = read.body.toString()
  return jsonObjectOf(text) === undefined ? { refusal: refusals.invalidJsonBody } : { text }
}

/** What a text says, when it is a JSON object. */
export function jsonObjectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return value as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** The client went away before its body was complete. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted'
}

/** The whole body, which mostly comes in one piece; undefined when it is too large, the rest of it unread. */
function readBytes(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length']) > MAX_BODY_BYTES) return resolve(undefined)
    const chunks: Buffer[] = []
    let length = 0
    const onData = (chunk: Buffer): void => {
      length += chunk.length
      if (length > MAX_BODY_BYTES) {
        request.off('data', onData).off('end', onEnd)
        request.pause()
        resolve(undefined)
      } else chunks.push(chunk)
    }
    const onEnd = (): void => {
      const [first] = chunks
      resolve(chunks.length === 1 ? first : Buffer.concat(chunks, length))
    }
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('close', () => {
      if (!request.readableEnded) reject(new RequestAborted('the client went away'))
    })
  })
}

function discard(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    const done = (): void => {
      clearTimeout(timer)
      request.off('data', count).off('end', done).off('close', done)
      request.pause()
      resolve()
    }
    const count = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > MAX_DISCARDED_BYTES) done()
    }
    const timer = setTimeout(done, MAX_DISCARDING_MS)
    request.on('data', count).on('end', done).on('close', done)
    request.resume()
  })
}

/** What some programs put before UTF-8 says nothing. */
const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

/** Parsing first would build the depth, and printing it overflows the stack. */
function nestsDeeperThan(json: Buffer, limit: number): boolean {
  return hasMoreThan(json, limit) && opensMoreThan(json, limit)
}

/** Whether there are more brackets than so many, wherever: nothing nests deeper than it has brackets. */
function hasMoreThan(json: Buffer, limit: number): boolean {
  let found = 0
  for (const bracket of [OPEN_BRACE, OPEN_BRACKET]) {
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) {
      found += 1
      if (found > limit) return true
    }
  }
  return false
}

/** Counts brackets outside strings. No byte of a longer character is one of those that are looked for. */
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
