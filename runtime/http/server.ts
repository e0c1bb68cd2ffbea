import type { Router } from '@koa/router'
import Koa from 'koa'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { InvariantBroken } from '../../core/assert.js'
import { badRequest, type Refusal, refusals } from '../../core/entry/refusals.js'
import type { Logger } from '../process/log.js'
import { endSpan } from '../process/trace-spans.js'
import {
  boundConnections,
  endWithRefusal,
  requestIdOf,
  type ConnectionLimits,
} from './connections.js'
import { RequestAborted } from './read-body.js'

/** Most headers of a client's request. */
export const MAX_HEADERS = 100
/**
 * How long an idle connection stays open: longer than any usual proxy in front reuses one (nginx and load balancers: 60 s).
 * Otherwise a proxy sends a request on a connection that is just being closed, and its client is answered 502.
 */
export const KEEP_ALIVE_MS = 75_000
const MAX_REQUESTS_PER_SOCKET = 1_000
/** Interval of the check for slow requests: a request can exceed its time-out by this much. */
const TIMEOUT_CHECK_MS = 500
const CLOSE_IDLE_EVERY_MS = 50

/** Bounds of a server. */
export interface ServerLimits extends ConnectionLimits {
  readonly maxHeaderBytes: number
  /** Time limit for a request's head. */
  readonly headersTimeoutMs: number
  /** Time limit for a request with its body; one that takes longer is answered 408. */
  readonly requestTimeoutMs: number
}

export const SERVER_LIMITS: ServerLimits = {
  maxHeaderBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 256,
  minBytesPerMs: 64,
  graceMs: 10_000,
  silentMs: 5_000,
  checkEveryMs: 1_000,
}

/** An HTTP server with every limit set; malformed and slow requests are answered in JSON too. */
export function createHttpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
  changed: Partial<ServerLimits> = {},
): Server {
  const limits = { ...SERVER_LIMITS, ...changed }
  const server = createServer(
    {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, limits.headersTimeoutMs),
      insecureHTTPParser: false,
      // Checked below, where the answer can be JSON.
      requireHostHeader: false,
    },
    (request, response) => {
      // Its connection was refused before it came.
      if (!request.socket.writable) return
      const refusal = refuseHead(request, MAX_HEADERS)
      if (refusal === undefined) void handle(request, response)
      else endWithRefusal(request.socket, refusal)
    },
  )
  // Any other bound leaves out the headers beyond it, and the request would be judged without them. The size bounds them.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  // What else a client expects by itself is ignored; `100-continue` is met before this.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  )
  boundConnections(server, limits)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    endWithRefusal(socket, CLIENT_ERRORS[error.code ?? ''] ?? MALFORMED)
  })
  return server
}

/**
 * Takes the upgrades of a server to a WebSocket, of which it refuses the same heads as of requests, or those with more headers
 * than given. Another protocol that a client offers by itself, as `h2c`, is ignored: the request is answered as any other.
 */
export function takeUpgrades(
  server: Server,
  handle: (request: IncomingMessage, socket: Socket, head: Buffer) => void,
  maxHeaders = MAX_HEADERS,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!isToWebSocket(request)) return answerAsRequest(server, request, socket, head)
    const refusal = refuseHead(request, maxHeaders)
    if (refusal === undefined) return handle(request, socket, head)
    socket.on('error', () => socket.destroy())
    endWithRefusal(socket, refusal)
  })
}

const isToWebSocket = ({ headers }: IncomingMessage): boolean =>
  (headers.upgrade ?? '').split(',').some((each) => each.trim().toLowerCase() === 'websocket')

/** Headers that offer another protocol. */
const OFFERS = new Set(['upgrade', 'http2-settings'])

/** Has the server read the request once more, without what it offers: the parser has left the connection at its head. */
function answerAsRequest(
  server: Server,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Socket,
  body: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    const lower = name.toLowerCase()
    if (lower === 'connection') lines.push(`${name}: ${withoutOffers(value)}`)
    else if (!OFFERS.has(lower)) lines.push(`${name}: ${value}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]))
  server.emit('connection', socket)
}

const withoutOffers = (connection: string): string =>
  connection
    .split(',')
    .filter((option) => !OFFERS.has(option.trim().toLowerCase()))
    .join(',')
    .trim() || 'keep-alive'

/** Why the head of a request is not judged further. */
function refuseHead(request: IncomingMessage, maxHeaders: number): Refusal | undefined {
  if (request.rawHeaders.length > 2 * maxHeaders) return tooManyHeaders(maxHeaders)
  return hasOneHost(request) ? undefined : MALFORMED
}

const MALFORMED = badRequest('bad_request', 'malformed HTTP request')

const tooManyHeaders = (maxHeaders: number): Refusal => ({
  ...MALFORMED,
  status: 431,
  message: `more than ${maxHeaders} request headers`,
})

const CLIENT_ERRORS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { ...MALFORMED, status: 431, message: 'request headers too large' },
  // A client that speaks HTTP/2 without asking.
  HPE_PAUSED_H2_UPGRADE: {
    ...MALFORMED,
    status: 505,
    message: 'send HTTP/1.1: HTTP/2 is not served',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { ...MALFORMED, status: 408, message: 'request took too long' },
}

/** Exactly one Host header: with two, a proxy in front and this server could each act on another one. */
function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

const HOST = 'host'

/** Starts listening and resolves with the port; rejects when the address is in use. */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** Accepts no new connection, lets requests in flight finish within the grace period, then closes the rest. */
export function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const hard = setTimeout(() => server.closeAllConnections(), graceMs)
    // A kept-alive connection becomes idle once its answer is sent; only this closes it then.
    const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    server.close(() => {
      clearTimeout(hard)
      clearInterval(idle)
      resolve()
    })
  })
}

export interface HttpAppOptions {
  readonly router: Router<HttpState>
  readonly refuse: Refuse
  /** Answer to a path without a route; defaults to `refusals.pathNotFound`. */
  readonly pathNotFound?: Refusal
  /** Called after a request broke an invariant; defaults to logging it only. */
  readonly onFatal?: (error: InvariantBroken) => void
  /** Called with each answer. */
  readonly onAnswer?: (answer: MeasuredRequest) => void
  /** Runs before the router. */
  readonly before?: Koa.Middleware<HttpState>
  readonly log: Logger
}

/** The address of a server on a host and a port. */
export const urlOf = (host: string, port: number): string =>
  `http://${isIPv6(host) ? `[${host}]` : host}:${port}`

/** An answered request, as it is measured. */
export interface MeasuredRequest {
  readonly method: string
  /** The path of the route, with its parameters by name; `none` where none has the path. */
  readonly route: string
  readonly status: number
  /** The code of a refusal. */
  readonly code: string | undefined
  readonly seconds: number
}

/**
 * A Koa application that answers the router's routes. Every answer carries `X-Request-Id` and leaves one line in the
 * log; an error is answered 500 with a constant text, and only the log has its reason.
 */
export function createHttpApp(options: HttpAppOptions): Koa<HttpState> {
  const { router, refuse, pathNotFound = refusals.pathNotFound, log } = options
  const app = new Koa<HttpState>()
  app.on('error', (error: unknown, { req, headerSent, state }: HttpContext) => {
    // Koa reports what fails while it writes the answer, which mostly means that the client disconnected.
    const level = headerSent || req.socket.destroyed ? 'debug' : 'error'
    log[level]({ err: error, request_id: state.requestId }, 'answer failed')
  })
  app.use(handleRequests(options))
  if (options.before !== undefined) app.use(options.before)
  app.use(router.routes())
  app.use(refuseUnrouted(refuse, pathNotFound))
  return app
}

/** The outermost middleware: names the request, runs its handler, answers for what it throws, and logs the outcome. */
export function handleRequests({
  refuse,
  log,
  onFatal,
  onAnswer,
}: Pick<HttpAppOptions, 'refuse' | 'log' | 'onFatal' | 'onAnswer'>): Koa.Middleware<HttpState> {
  return async (ctx, next) => {
    const startedAt = performance.now()
    const requestId = requestIdOf(ctx.req.headers)
    ctx.state.requestId = requestId
    ctx.state.logged = {}
    endSpan('received', [ctx.state])
    ctx.set('X-Request-Id', requestId)
    try {
      await next()
      serialise(ctx)
    } catch (error) {
      // An aborted upload is the client's decision; no answer can reach it.
      const level = error instanceof RequestAborted ? 'debug' : 'error'
      log[level]({ err: error, request_id: requestId }, 'request failed')
      refuse(ctx, refusals.internal)
      if (error instanceof InvariantBroken) onFatal?.(error)
    }
    endSpan('answered', [ctx.state])
    if (ctx.status === refusals.bodyTooLarge.status || hasUnreadBody(ctx.req))
      ctx.set('Connection', 'close')
    const ms = performance.now() - startedAt
    logRequest(log, ctx, ms)
    onAnswer?.(answeredOf(ctx, ms))
  }
}

/** Serialises here rather than in Koa, so that a body that cannot be serialised is answered 500 in JSON too. */
function serialise(ctx: HttpContext): void {
  const { body } = ctx
  const isSerialised = Buffer.isBuffer(body) || body instanceof Readable
  if (typeof body === 'object' && body !== null && !isSerialised)
    answerJson(ctx, JSON.stringify(body))
}

/** Node would read an unread body to the end to reuse the connection: close it instead, the body may be endless. */
function hasUnreadBody({ headers, readableEnded }: IncomingMessage): boolean {
  if (readableEnded) return false
  const { 'transfer-encoding': encoding, 'content-length': length } = headers
  return (encoding !== undefined && encoding !== '') || Number(length ?? 0) > 0
}

/** At info when the request may have changed something, at warn when it failed here, else at debug. No body, query or header. */
function logRequest(log: Logger, ctx: HttpContext, ms: number): void {
  const { path, method, status, state } = ctx
  const level = status >= 500 && path !== '/readyz' ? 'warn' : method === 'POST' ? 'info' : 'debug'
  if (!log.isLevelEnabled(level)) return
  const line = {
    request_id: state.requestId,
    method,
    path: path.slice(0, 200),
    status,
    ms: Math.round(ms * 10) / 10,
    ...state.logged,
  }
  log[level](line, 'request answered')
}

/** What the router leaves in the context: the routes of the path, whatever their methods. */
interface RoutedContext {
  readonly matched?: readonly { readonly methods: readonly string[]; readonly path: unknown }[]
}

function answeredOf(ctx: HttpContext, ms: number): MeasuredRequest {
  const { matched = [] } = ctx as RoutedContext
  const path = matched.at(-1)?.path
  const { code } = ctx.state.logged
  return {
    method: ctx.method,
    route: typeof path === 'string' ? path : 'none',
    status: ctx.status,
    code: typeof code === 'string' ? code : undefined,
    seconds: ms / 1_000,
  }
}

/** Answers what no route answered: 405 with `Allow` on a known path, else 404. */
function refuseUnrouted(refuse: Refuse, pathNotFound: Refusal): Koa.Middleware<HttpState> {
  return (ctx) => {
    const { matched = [] } = ctx as RoutedContext
    if (matched.length === 0) return refuse(ctx, pathNotFound)
    ctx.set('Allow', [...new Set(matched.flatMap(({ methods }) => methods))].join(', '))
    refuse(ctx, refusals.methodNotAllowed)
  }
}

/** What both services keep of a request while it is handled. */
export interface HttpState {
  /** Identifies the request in the log and in the answer's `X-Request-Id`. */
  requestId: string
  /** Fields of the request's log line besides method, path, status and time. */
  logged: Record<string, unknown>
  /** What a refusal says besides its own fields, where the protocol of the path asks for it. */
  refusalFields?: (refusal: Refusal) => Readonly<Record<string, unknown>>
}

export type HttpContext = Koa.ParameterizedContext<HttpState>

/** The part of a context that answering needs. */
export type AnswerContext = Pick<HttpContext, 'status' | 'body' | 'state' | 'set'>

/** Answers with a refusal: its status, its body, and its code in the log line. `extra` fields follow those of the body. */
export type Refuse = (
  ctx: AnswerContext,
  refusal: Refusal,
  extra?: Readonly<Record<string, unknown>>,
) => void

/** Returns the one function that turns a service's refusals into answers; `bodyOf` presents a refusal as JSON. */
export const refuseWith =
  (bodyOf: (refusal: Refusal, requestId: string) => Readonly<Record<string, unknown>>): Refuse =>
  (ctx, refusal, extra = {}) => {
    ctx.status = refusal.status
    const { requestId, refusalFields } = ctx.state
    const body = { ...bodyOf(refusal, requestId), ...refusalFields?.(refusal), ...extra }
    answerJson(ctx, JSON.stringify(body))
    ctx.state.logged.code = refusal.code
  }

/** Answers with text that is JSON already. */
export function answerJson(ctx: Pick<AnswerContext, 'set' | 'body'>, json: string): void {
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  ctx.body = json
}
