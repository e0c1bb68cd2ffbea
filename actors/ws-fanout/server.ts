import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { refusalBody, refusals } from '../../core/entry/refusals.js'
import { endWithRefusal, leaveHttp, requestIdOf } from '../../runtime/http/connections.js'
import {
  closeServer,
  createHttpServer,
  listen,
  MAX_HEADERS,
  takeUpgrades,
  type ServerLimits,
} from '../../runtime/http/server.js'
import type { Logger } from '../../runtime/process/log.js'
import { createAdmission, type AdmissionParts, type UpgradeRefusal } from './admission.js'
import { createConnection, type ClientConnection } from './connection.js'
import {
  MAX_BUFFERED_CHUNKS,
  MAX_CLIENT_FRAME_BYTES,
  MAX_FRAGMENTS,
  MAX_HEADER_BYTES,
  SESSION_LIMITS,
  type SessionLimits,
} from './limits.js'
import type { MarketFeed } from './market-feed.js'
import { createSession, type ClientSession, type SessionParts } from './session.js'

export const WS_PATH = '/v1/ws'
/** The gateway's relay adds `X-Forwarded-For` to the headers of the client. */
const MAX_UPGRADE_HEADERS = MAX_HEADERS + 1
/** Time for the closing handshake when the process stops; well below the time limit of the stop. */
const GOING_AWAY_MS = 1_000
/** Connections besides those of sockets: upgrades on their way, and their refusals. */
const OTHER_CONNECTIONS = 1_000
const OTHER_CONNECTIONS_PER_ADDRESS = 64

export interface FanOutServer {
  /** The port listened on. */
  readonly port: number
  /** How many clients are connected. */
  clients(): number
  /** Tells every client that follows all markets of one that is listed from now on. */
  onListed(feed: MarketFeed): void
  /** The sessions of all open connections. */
  sessions(): Iterable<ClientSession>
  /** Closes every connection with 1001 and stops listening. */
  stop(): Promise<void>
}

export interface ServerOptions
  extends Omit<SessionParts, 'connection' | 'limits'>, Omit<AdmissionParts, 'limits'> {
  /** 0 takes any free port. */
  readonly port: number
  /** Address to listen on. */
  readonly host: string
  readonly limits?: SessionLimits
  readonly log: Logger
}

/** Serves WebSocket clients at WS_PATH; other requests get an error in JSON. */
export async function startServer(options: ServerOptions): Promise<FanOutServer> {
  const { port, host, limits = SESSION_LIMITS, log } = options
  const connections = new Set<ClientConnection>()
  const sessions = new Set<ClientSession>()
  const admission = createAdmission({ ...options, limits })
  const http = createHttpServer(answerPlain, serverLimits(limits, options.trustedProxies))
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_CLIENT_FRAME_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_BUFFERED_CHUNKS,
  })

  wss.on('headers', (headers, request) => {
    headers.push(`X-Request-Id: ${requestIdOf(request.headers)}`)
  })
  const upgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    leaveHttp(socket)
    socket.on('error', () => socket.destroy())
    if (!socket.writable) return void socket.destroy()
    const requestId = requestIdOf(request.headers)
    const refused = pathOf(request) === WS_PATH ? admission.refuse(request) : NOT_FOUND
    if (refused !== undefined) {
      const { refusal, headers = {} } = refused
      log.debug({ request_id: requestId, code: refusal.code }, 'upgrade refused')
      return endWithRefusal(socket, refusal, { requestId, headers })
    }
    request.headers['x-request-id'] = requestId
    socket.once('close', admission.enter(request))
    wss.handleUpgrade(request, socket, head, (ws) => {
      const connection = createConnection({ ws, socket, limits })
      connections.add(connection)
      log.debug({ request_id: requestId }, 'socket opened')
      ws.once('close', () => connections.delete(connection))
      // The gateway half-closes its connections when it stops; `ws` would answer that without a close frame.
      socket.prependOnceListener('end', () => connection.close(1001, 'going away'))
      const authenticate = admission.boundAuth(request, options.authenticate)
      const session = createSession({ ...options, connection, limits, authenticate })
      sessions.add(session)
      ws.once('close', () => sessions.delete(session))
      attach(ws, { connection, session, limits })
    })
  }
  takeUpgrades(http, upgrade, MAX_UPGRADE_HEADERS)

  const bound = await listen(http, port, host)
  log.info({ port: bound, host }, 'listening')

  async function stop(): Promise<void> {
    for (const connection of connections) connection.close(1001, 'going away', GOING_AWAY_MS)
    await closeServer(http, GOING_AWAY_MS)
  }
  const onListed = (feed: MarketFeed): void => {
    for (const session of sessions) session.onListed(feed)
  }
  const open = { clients: () => connections.size, sessions: () => sessions }
  return { port: bound, ...open, onListed, stop }
}

/** The proxies' own connections are not counted by address. */
const serverLimits = (limits: SessionLimits, trustedProxies: number): Partial<ServerLimits> => ({
  maxHeaderBytes: MAX_HEADER_BYTES,
  headersTimeoutMs: limits.handshakeWithinMs,
  requestTimeoutMs: limits.handshakeWithinMs,
  maxConnections: limits.maxSockets + OTHER_CONNECTIONS,
  maxConnectionsPerAddress:
    trustedProxies > 0 ? Infinity : limits.maxSocketsPerAddress + OTHER_CONNECTIONS_PER_ADDRESS,
})

interface SocketClientState {
  readonly connection: ClientConnection
  readonly session: ClientSession
  readonly limits: SessionLimits
}

/** Passes the client's messages to its session and limits their rate. */
function attach(ws: WebSocket, { connection, session, limits }: SocketClientState): void {
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

const NOT_FOUND: UpgradeRefusal = { refusal: refusals.pathNotFound }

/** Answers a request that asks for no upgrade, as the gateway does. */
function answerPlain(request: IncomingMessage, response: ServerResponse): void {
  const requestId = requestIdOf(request.headers)
  const { refusal, headers = {} } = plainRefusal(request)
  response.writeHead(refusal.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': requestId,
    // A body is not read.
    Connection: 'close',
    ...headers,
  })
  response.end(JSON.stringify(refusalBody(refusal, requestId)))
}

function plainRefusal(request: IncomingMessage): UpgradeRefusal {
  const { method = '' } = request
  if (pathOf(request) !== WS_PATH) return NOT_FOUND
  if (!READS.includes(method)) {
    return { refusal: refusals.methodNotAllowed, headers: { Allow: READS.join(', ') } }
  }
  const headers = { Upgrade: 'websocket', Connection: 'Upgrade' }
  return { refusal: refusals.upgradeRequired, headers }
}

const READS = ['HEAD', 'GET']

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? ''
}

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
