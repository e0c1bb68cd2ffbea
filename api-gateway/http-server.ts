import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { Duplex } from 'node:stream'

const MAX_HEADER_BYTES = 16 * 1024
const MAX_HEADERS = 100
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const KEEP_ALIVE_MS = 5_000
const MAX_REQUESTS_PER_SOCKET = 1_000
const MAX_CONNECTIONS = 10_000
/** How often slow requests are looked for; sets how far beyond its limit one can get. */
const TIMEOUT_CHECK_MS = 500
const CLOSE_IDLE_EVERY_MS = 50

/** An HTTP server with every limit set, which answers broken requests in JSON like everything else. */
export function createHttpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      insecureHTTPParser: false,
      // Checked below, where the answer can be JSON.
      requireHostHeader: false,
    },
    (request, response) => {
      if (namesItsHost(request)) handle(request, response)
      else endWithJson(request.socket, 400, badRequest(400))
    },
  )
  server.maxHeadersCount = MAX_HEADERS
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.maxConnections = MAX_CONNECTIONS
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = CLIENT_ERRORS[error.code ?? ''] ?? 400
    endWithJson(socket, status, badRequest(status))
  })
  return server
}

/** Exactly one Host: with two, a proxy in front and we could each believe another one. */
function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

const HOST = 'host'

const CLIENT_ERRORS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'malformed HTTP request',
  404: 'no such path',
  408: 'request took too long',
  431: 'request headers too large',
  503: 'service unavailable',
}

const badRequest = (status: number): BareRefusal => ({
  error: STATUS_TEXTS[status] ?? 'malformed HTTP request',
  code: 'bad_request',
})

/** The body of a refusal before it gets the name of its request. */
export interface BareRefusal {
  readonly error: string
  readonly code: string
}

/** Writes a refusal as a whole JSON response onto a bare connection and closes it. */
export function endWithJson(socket: Duplex, status: number, refusal: BareRefusal): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const requestId = randomUUID()
  const text = JSON.stringify({ ...refusal, request_id: requestId })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status] ?? 'Error'}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(text)}\r\n` +
      `X-Request-Id: ${requestId}\r\n` +
      'Connection: close\r\n\r\n' +
      text,
    () => socket.destroy(),
  )
}

/** Starts listening and resolves with the port; rejects when the address is taken. */
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

/** Takes no new connection, lets requests under way finish within the time given, then closes what is left. */
export function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const hard = setTimeout(() => server.closeAllConnections(), graceMs)
    // A kept-alive connection becomes idle when its answer is out, and then nothing else would end it.
    const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    server.close(() => {
      clearTimeout(hard)
      clearInterval(idle)
      resolve()
    })
  })
}
