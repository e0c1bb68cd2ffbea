import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { refusals } from '../../core/entry/refusals.js'
import type { Logger } from '../../runtime/process/log.js'
import { createConnection, type Connection } from './connection.js'
import {
  MAX_BUFFERED_CHUNKS,
  MAX_CLIENT_FRAME_BYTES,
  MAX_FRAGMENTS,
  MAX_HEADER_BYTES,
  SESSION_LIMITS,
  type SessionLimits,
} from './limits.js'
import { createSession, type Session, type SessionParts } from './session.js'

export const WS_PATH = '/v1/ws'
/** Interval of the check for slow requests: the most by which one can exceed its limit. */
const TIMEOUT_CHECK_MS = 500
/** Time for the closing handshake when the process stops; well below the time limit of the stop. */
const GOING_AWAY_MS = 1_000
const LOOPBACK = '127.0.0.1'

export interface FanOutServer {
  /** The port listened on. */
  readonly port: number
  /** How many clients are connected. */
  clients(): number
  /** Closes every connection with 1001 and stops listening. */
  stop(): Promise<void>
}

export interface ServerOptions
  extends Omit<SessionParts, 'connection' | 'limits'>, Omit<AdmissionParts, 'limits'> {
  /** 0 takes any free port. */
  readonly port: number
  readonly limits?: SessionLimits
  readonly log: Logger
}

/** Serves WebSocket clients at WS_PATH on the loopback interface; other requests get an error in JSON. */
export async function startServer(options: ServerOptions): Promise<FanOutServer> {
  const { port, limits = SESSION_LIMITS, log } = options
  const connections = new Set<Connection>()
  const admission = createAdmission({ ...options, limits })
  const http = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.handshakeWithinMs,
    requestTimeout: limits.handshakeWithinMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, limits.handshakeWithinMs),
  })
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_CLIENT_FRAME_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_BUFFERED_CHUNKS,
  })

  http.on('request', (request, response) => {
    const isKnown = pathOf(request) === WS_PATH
    const { status, message: error } = isKnown ? refusals.upgradeRequired : refusals.pathNotFound
    const upgrade = isKnown ? { upgrade: 'websocket', connection: 'Upgrade' } : {}
    response.writeHead(status, { 'content-type': 'application/json', ...upgrade })
    response.end(JSON.stringify({ error }))
  })
  http.on('upgrade', (request, socket, head) => {
    const refusal = pathOf(request) === WS_PATH ? admission.refuse(request) : NOT_FOUND
    if (refusal !== undefined) return answerRaw(socket, refusal)
    socket.once('close', admission.enter(request))
    wss.handleUpgrade(request, socket, head, (ws) => {
      const connection = createConnection({ ws, socket, limits })
      connections.add(connection)
      ws.once('close', () => connections.delete(connection))
      // The gateway half-closes its connections when it stops; `ws` would answer that without a close frame.
      socket.prependOnceListener('end', () => connection.close(1001, 'going away'))
      const session = createSession({ ...options, connection, limits })
      attach(ws, { connection, session, limits })
    })
  })

  await listen(http, port)
  const address = http.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  log.info({ port: bound }, 'listening')

  async function stop(): Promise<void> {
    for (const connection of connections) connection.close(1001, 'going away', GOING_AWAY_MS)
    await new Promise<void>((resolve) => http.close(() => resolve()))
  }
  return { port: bound, clients: () => connections.size, stop }
}

interface Client {
  readonly connection: Connection
  readonly session: Session
  readonly limits: SessionLimits
}

/** Passes the client's messages to its session and limits their rate. */
function attach(ws: WebSocket, { connection, session, limits }: Client): void {
  const rate = createMessageRate(limits, () => performance.now())
  const count = (): boolean => {
    if (rate.allows()) return true
    connection.close(1008, 'too many messages')
    return false
  }
  ws.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) connection.close(1003, 'text frames only')
    else if (count()) session.onText(data.toString('utf8'))
  })
  ws.on('ping', count)
  ws.on('pong', count)
  // After a protocol violation `ws` closes the socket with the right code.
  ws.on('error', () => session.end())
  ws.once('close', () => session.end())
}

const NOT_FOUND: UpgradeRefusal = { status: '404 Not Found', error: 'not found' }

function answerRaw(socket: Duplex, { status, error, headers = [] }: UpgradeRefusal): void {
  const body = JSON.stringify({ error })
  const lines = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ]
  socket.on('error', () => socket.destroy())
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? ''
}

function listen(http: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, LOOPBACK, resolve)
  })
}

/** What decides about an upgrade. */
export interface AdmissionParts {
  /** Allowed origins of web pages; `*` allows all. A client without an Origin header is always allowed. */
  readonly allowedOrigins: readonly string[]
  /** Whether every feed has been read. */
  readonly isReady: () => boolean
  readonly limits: SessionLimits
}

/** The answer to a refused upgrade. */
export interface UpgradeRefusal {
  readonly status: string
  readonly error: string
  readonly headers?: readonly string[]
}

/** Accepts or refuses upgrades, and counts open connections. */
export interface Admission {
  refuse(request: IncomingMessage): UpgradeRefusal | undefined
  /** Counts a connection until the returned function is called. */
  enter(request: IncomingMessage): () => void
}

export function createAdmission({ allowedOrigins, isReady, limits }: AdmissionParts): Admission {
  const socketsOf = new Map<string, number>()
  let sockets = 0

  function refuse(request: IncomingMessage): UpgradeRefusal | undefined {
    const { origin } = request.headers
    if (request.headers['sec-websocket-version'] !== '13') {
      const headers = ['Sec-WebSocket-Version: 13']
      return { status: '426 Upgrade Required', error: 'unsupported WebSocket version', headers }
    }
    if (origin !== undefined && !allowedOrigins.some((one) => one === '*' || one === origin)) {
      return { status: '403 Forbidden', error: 'origin is not allowed' }
    }
    if (!isReady()) return retryLater('503 Service Unavailable', 'the feed is being read')
    if (sockets >= limits.maxSockets) {
      return retryLater('503 Service Unavailable', 'too many connections')
    }
    const address = addressOf(request)
    const open = socketsOf.get(address) ?? 0
    if (open >= limits.maxSocketsPerAddress && !isLoopback(address)) {
      return retryLater('429 Too Many Requests', 'too many connections from this address')
    }
    return undefined
  }

  function enter(request: IncomingMessage): () => void {
    const address = addressOf(request)
    sockets += 1
    socketsOf.set(address, (socketsOf.get(address) ?? 0) + 1)
    return () => {
      const left = (socketsOf.get(address) ?? 1) - 1
      sockets -= 1
      if (left === 0) socketsOf.delete(address)
      else socketsOf.set(address, left)
    }
  }

  return { refuse, enter }
}

const retryLater = (status: string, error: string): UpgradeRefusal => ({
  status,
  error,
  headers: ['Retry-After: 1'],
})

/**
 * The client's address: the last entry of `X-Forwarded-For`, which the gateway appended. Only the gateway and local
 * programs reach this process, so without the header it is the address of the socket.
 */
function addressOf(request: IncomingMessage): string {
  const forwarded = request.headers['x-forwarded-for']
  const entries = (Array.isArray(forwarded) ? forwarded.join() : (forwarded ?? '')).split(',')
  return entries.at(-1)?.trim() || (request.socket.remoteAddress ?? 'unknown')
}

const isLoopback = (address: string): boolean =>
  address === '::1' || /^(::ffff:)?127\./.test(address)

/** Limits the messages of a client in fixed windows; a window starts with the first message after the last one. */
export interface MessageRate {
  /** Counts one message; false when it is over the limit. */
  allows(): boolean
}

export interface MessageRateLimits {
  readonly maxMessages: number
  readonly messageWindowMs: number
}

/** `nowMs` is a monotonic clock. */
export function createMessageRate(limits: MessageRateLimits, nowMs: () => number): MessageRate {
  let windowEndsMs = -Infinity
  let counted = 0
  return {
    allows() {
      const now = nowMs()
      if (now >= windowEndsMs) {
        windowEndsMs = now + limits.messageWindowMs
        counted = 0
      }
      counted += 1
      return counted <= limits.maxMessages
    },
  }
}
