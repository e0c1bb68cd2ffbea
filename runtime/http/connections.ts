import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { refusalBody, refuse, type Refusal } from '../../core/entry/refusals.js'

type SentRequest = Pick<IncomingMessage, 'headers' | 'socket'>

/**
 * The client's address: what the outermost of our own proxies wrote into `X-Forwarded-For`, because what is before that
 * the client may have written itself; without proxies, or without their entries, the address of the connection.
 */
export function clientAddress(request: SentRequest, trustedProxies: number): string {
  const peer = peerOf(request)
  if (trustedProxies === 0) return peer
  return forwardedFor(request).at(-trustedProxies) || peer
}

/** The entries of `X-Forwarded-For`, the newest last; one empty entry without the header. */
export const forwardedFor = ({ headers }: Pick<SentRequest, 'headers'>): string[] =>
  [headers['x-forwarded-for'] ?? []]
    .flat()
    .join()
    .split(',')
    .map((entry) => entry.trim())

export const peerOf = ({ socket }: Pick<SentRequest, 'socket'>): string =>
  socket.remoteAddress ?? 'unknown'

export const isLoopback = (address: string): boolean =>
  address === '::1' || /^(::ffff:)?127\./.test(address)

/** Groups of an IPv6 address that name a network; one client has the rest of them to itself. */
const NETWORK_GROUPS = 4
const GROUPS = 8

/** What counts as one client: an IPv4 address, or the /64 network of an IPv6 address. */
export function clientKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [before = '', after] = address.split('::')
  const groupsOf = (part = ''): string[] => part.split(':').filter((group) => group !== '')
  const left = groupsOf(before)
  const right = groupsOf(after)
  const absent = Array.from({ length: GROUPS - left.length - right.length }, () => '0')
  const network = [...left, ...absent, ...right].slice(0, NETWORK_GROUPS)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** Bounds of a server's connections. */
export interface ConnectionLimits {
  /** Open connections; one more takes the place of the oldest that has sent nothing, or is answered 503 and closed. */
  readonly maxConnections: number
  /** Open connections of one address; one more is answered 429 and closed. Those from this machine are not counted. */
  readonly maxConnectionsPerAddress: number
  /** A client that takes an answer slower than this, after the grace period, is disconnected. */
  readonly minBytesPerMs: number
  readonly graceMs: number
  /** A connection that has sent nothing for so long is closed. */
  readonly silentMs: number
  /** Interval of the check for slow clients. */
  readonly checkEveryMs: number
}

/** Connections above the bound that wait for the client to read why; any more are closed without an answer. */
const MAX_REFUSED = 500
const LINGER_MS = 1_000
const CLOSE_SILENT_EVERY_MS = 20
const CLOSED_AT_ONCE = 50

const tooMany = refuse(503)('too_many_connections', 'too many connections')
const tooManyOfAddress = refuse(429)(
  'too_many_connections',
  'too many connections from this address',
)

/** Holds the connections of a server to these limits. An upgraded connection counts until it closes. */
export function boundConnections(server: Server, limits: ConnectionLimits): void {
  const open = new Set<Socket>()
  const perAddress = new Map<string, number>()
  /** Those that had sent nothing when last looked at, the oldest first, and when they came. */
  const silent = new Map<Socket, number>()
  /** Those that had unsent bytes at the last check. */
  const lagging = new Map<Socket, Lag>()
  server.maxConnections = limits.maxConnections + MAX_REFUSED
  const closing = closeSilentInTime(silent, limits.silentMs)

  server.on('connection', (socket: Socket) => {
    // Read once more, after an upgrade that was no concern of the server.
    if (open.has(socket)) return
    const { remoteAddress = 'unknown' } = socket
    const counted = isLoopback(remoteAddress) ? undefined : clientKey(remoteAddress)
    const ofAddress = counted === undefined ? 0 : (perAddress.get(counted) ?? 0)
    if (ofAddress >= limits.maxConnectionsPerAddress) return turnAway(socket, tooManyOfAddress)
    if (open.size >= limits.maxConnections) {
      const oldest = oldestSilent(silent)
      if (oldest === undefined) return turnAway(socket, tooMany)
      open.delete(oldest)
      turnAway(oldest, tooMany)
    }
    open.add(socket)
    silent.set(socket, performance.now())
    closing.schedule()
    if (counted !== undefined) perAddress.set(counted, ofAddress + 1)
    socket.once('close', () => {
      open.delete(socket)
      silent.delete(socket)
      lagging.delete(socket)
      if (counted !== undefined) decrease(perAddress, counted)
    })
  })

  function check(): void {
    const nowMs = performance.now()
    for (const socket of open) {
      const unsent = upgraded.has(socket) ? 0 : socket.writableLength
      const lag = lagging.get(socket)
      const sent = socket.bytesWritten - unsent
      if (unsent === 0) lagging.delete(socket)
      else if (lag === undefined) lagging.set(socket, { sinceMs: nowMs, sentBefore: sent })
      else if (isTooSlow(lag, { nowMs, sent, unsent }, limits)) socket.destroy()
    }
  }
  const checking = setInterval(check, limits.checkEveryMs).unref()
  server.once('close', () => {
    clearInterval(checking)
    closing.stop()
  })
}

/** Closes silent connections when the oldest is due; without any there is no timer, which would wake an idle process. */
function closeSilentInTime(silent: Map<Socket, number>, silentMs: number) {
  let timer: NodeJS.Timeout | undefined
  const schedule = (): void => {
    const [oldest] = silent.values()
    if (timer !== undefined || oldest === undefined) return
    const dueInMs = oldest + silentMs - performance.now()
    timer = setTimeout(look, Math.max(dueInMs, CLOSE_SILENT_EVERY_MS)).unref()
  }
  const look = (): void => {
    timer = undefined
    closeSilent(silent, silentMs)
    schedule()
  }
  return { schedule, stop: () => clearTimeout(timer) }
}

/** Few at a time: thousands that came together would otherwise be closed in one long turn of the event loop. */
function closeSilent(silent: Map<Socket, number>, silentMs: number): void {
  const dueMs = performance.now() - silentMs
  for (let closed = 0; closed < CLOSED_AT_ONCE; closed += 1) {
    const [oldest] = silent
    if (oldest === undefined || oldest[1] > dueMs) return
    const [socket] = oldest
    silent.delete(socket)
    if (socket.bytesRead === 0) socket.destroy()
  }
}

interface Lag {
  readonly sinceMs: number
  readonly sentBefore: number
}

/** At the least rate, what was sent since and what is unsent would have been sent by now. */
function isTooSlow(
  { sinceMs, sentBefore }: Lag,
  { nowMs, sent, unsent }: { nowMs: number; sent: number; unsent: number },
  { graceMs, minBytesPerMs }: ConnectionLimits,
): boolean {
  return nowMs - sinceMs > graceMs + (sent - sentBefore + unsent) / minBytesPerMs
}

/** Removes and returns the oldest connection that has sent nothing yet, and forgets those that have. */
function oldestSilent(silent: Map<Socket, number>): Socket | undefined {
  for (const socket of silent.keys()) {
    silent.delete(socket)
    if (socket.bytesRead === 0) return socket
  }
  return undefined
}

function turnAway(socket: Socket, refusal: typeof tooMany): void {
  socket.on('error', () => socket.destroy())
  endWithRefusal(socket, refusal, { headers: { 'Retry-After': '1' }, lingerMs: LINGER_MS })
}

const upgraded = new WeakSet<Duplex>()

/** Leaves the connection's speed to the protocol that it was upgraded to. */
export const leaveHttp = (socket: Duplex): void => void upgraded.add(socket)

/** One less under this key; a key that counts nothing is removed. */
export function decrease(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 1) - 1
  if (left <= 0) counts.delete(key)
  else counts.set(key, left)
}

interface RefusalDetails {
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
