import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Logger } from '../../bus-schemas/log.js'
import { createAdmission, type AdmissionParts, type UpgradeRefusal } from './admission.js'
import { createConnection, type Connection } from './connection.js'
import {
  MAX_BUFFERED_CHUNKS,
  MAX_CLIENT_FRAME_BYTES,
  MAX_FRAGMENTS,
  MAX_HEADER_BYTES,
  SESSION_LIMITS,
  type SessionLimits,
} from './limits.js'
import { createMessageRate } from './message-rate.js'
import { createSession, type Session, type SessionParts } from './session.js'

export const WS_PATH = '/v1/ws'
/** How often slow requests are looked for; sets how far beyond its limit one can get. */
const TIMEOUT_CHECK_MS = 500
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

export interface ServerOptions
  extends Omit<SessionParts, 'connection' | 'limits'>, Omit<AdmissionParts, 'limits'> {
  /** 0 takes any free port. */
  readonly port: number
  readonly limits?: SessionLimits
  readonly log: Logger
}

/** Serves WebSocket clients at WS_PATH on the loopback interface; everything else is answered in JSON. */
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
    const [status, error] =
      pathOf(request) === WS_PATH ? [426, 'this endpoint speaks WebSocket'] : [404, 'not found']
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error }))
  })
  http.on('upgrade', (request, socket, head) => {
    const refusal = pathOf(request) === WS_PATH ? admission.refuse(request) : NOT_FOUND
    if (refusal !== undefined) return answerRaw(socket, refusal)
    const leave = admission.enter(request)
    socket.once('close', leave)
    wss.handleUpgrade(request, socket, head, (ws) => {
      const connection = createConnection({ ws, socket, limits })
      connections.add(connection)
      ws.once('close', () => connections.delete(connection))
      const session = createSession({ ...options, connection, limits })
      converse(ws, { connection, session, limits })
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

interface Conversation {
  readonly connection: Connection
  readonly session: Session
  readonly limits: SessionLimits
}

function converse(ws: WebSocket, { connection, session, limits }: Conversation): void {
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
  // A protocol violation closes the socket with its own code; there is nobody left to tell.
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
