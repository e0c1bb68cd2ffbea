import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Logger } from '../../bus-schemas/log.js'
import { createConnection, type Connection } from './connection.js'
import {
  MAX_BUFFERED_CHUNKS,
  MAX_CLIENT_FRAME_BYTES,
  MAX_FRAGMENTS,
  MAX_HEADER_BYTES,
  MAX_SESSIONS,
  SESSION_LIMITS,
  type SessionLimits,
} from './limits.js'
import { createSession, type Session, type SessionParts } from './session.js'

export const WS_PATH = '/v1/ws'
const HANDSHAKE_MS = 10_000
/** What a client may take over the closing handshake when the process stops: well below the time it has to stop. */
const GOING_AWAY_MS = 1_000
const LOOPBACK = '127.0.0.1'

export interface FanOutServer {
  /** The port listened on. */
  readonly port: number
  /** How many clients are connected. */
  clients(): number
  /** Tells every client to come back later (1001) and stops listening. */
  stop(): Promise<void>
}

export interface ServerOptions extends Omit<SessionParts, 'connection' | 'limits'> {
  /** 0 takes any free port. */
  readonly port: number
  /** Origins of browsers that may connect; `*` is all of them. Clients without an Origin always may. */
  readonly allowedOrigins: readonly string[]
  /** Whether the process knows its markets well enough to serve them. */
  readonly isReady: () => boolean
  readonly limits?: SessionLimits
  readonly log: Logger
}

/** Serves WebSocket clients at WS_PATH on the loopback interface; everything else is answered in JSON. */
export async function startServer(options: ServerOptions): Promise<FanOutServer> {
  const { port, limits = SESSION_LIMITS, log } = options
  const connections = new Set<Connection>()
  const http = createServer({ maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HANDSHAKE_MS })
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_CLIENT_FRAME_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_BUFFERED_CHUNKS,
  })

  http.on('request', (request, response) => {
    const [status, error] =
      pathOf(request) === WS_PATH ? [426, 'this endpoint speaks WebSocket'] : [404, 'not found']
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error }))
  })
  http.on('upgrade', (request, socket, head) => {
    const refusal = refuse(request, options, connections.size)
    if (refusal !== undefined) return answerRaw(socket, refusal)
    wss.handleUpgrade(request, socket, head, (ws) => {
      const connection = createConnection({ ws, socket, limits })
      connections.add(connection)
      ws.once('close', () => connections.delete(connection))
      converse(ws, connection, createSession({ ...options, connection, limits }))
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

function converse(ws: WebSocket, connection: Connection, session: Session): void {
  ws.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) connection.close(1003, 'text frames only')
    else if (connection.isOpen()) session.onText(data.toString('utf8'))
  })
  // A protocol violation closes the socket with its own code; there is nobody left to tell.
  ws.on('error', () => session.end())
  ws.once('close', () => session.end())
}

interface UpgradeRefusal {
  readonly status: string
  readonly error: string
  readonly headers?: readonly string[]
}

function refuse(
  request: IncomingMessage,
  { allowedOrigins, isReady }: ServerOptions,
  sessions: number,
): UpgradeRefusal | undefined {
  const { origin } = request.headers
  if (pathOf(request) !== WS_PATH) return { status: '404 Not Found', error: 'not found' }
  if (request.headers['sec-websocket-version'] !== '13') {
    const headers = ['Sec-WebSocket-Version: 13']
    return { status: '426 Upgrade Required', error: 'unsupported WebSocket version', headers }
  }
  if (origin !== undefined && !allowedOrigins.some((one) => one === '*' || one === origin)) {
    return { status: '403 Forbidden', error: 'origin is not allowed' }
  }
  if (!isReady() || sessions >= MAX_SESSIONS) {
    const error = isReady() ? 'too many connections' : 'the feed is being read'
    return { status: '503 Service Unavailable', error, headers: ['Retry-After: 1'] }
  }
  return undefined
}

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
