import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { refusalBody, type Refusal } from '../../core/entry/refusals.js'

export interface RefusalDetails {
  /** Defaults to a new id. */
  readonly requestId?: string
  readonly headers?: Readonly<Record<string, string>>
  /** How long what the client still sends is read, so that the answer is not lost with it; 0 by default. */
  readonly lingerMs?: number
}

/** Writes a refusal as a complete JSON response to a connection outside HTTP handling, and closes it. */
export function endWithRefusal(
  socket: Duplex,
  refusal: Refusal,
  { requestId = randomUUID(), headers = {}, lingerMs = 0 }: RefusalDetails = {},
): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const text = JSON.stringify(refusalBody(refusal, requestId))
  const lines = Object.entries({
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'X-Request-Id': requestId,
    ...headers,
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}\r\n${lines.join('')}`
  const close = (): void => void socket.destroy()
  if (lingerMs > 0) setTimeout(close, lingerMs).unref()
  socket.end(`${head}\r\n${text}`, lingerMs > 0 ? undefined : close)
}

/** A caller's own id is accepted when it can neither break a log line nor fill one. */
const ACCEPTED_REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/

/** The id that a request brought, or a new one. */
export function requestIdOf(headers: Readonly<Record<string, unknown>>): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && ACCEPTED_REQUEST_ID.test(sent) ? sent : randomUUID()
}
