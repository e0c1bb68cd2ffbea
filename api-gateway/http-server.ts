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
      else endWithJson(request.socket, 400, { error: STATUS_TEXTS[400], code: 'bad_request' })
    },
  )
  server.maxHeadersCount = MAX_HEADERS
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.maxConnections = MAX_CONNECTIONS
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = CLIENT_ERRORS[error.code ?? ''] ?? 400
    endWithJson(socket, status, { error: STATUS_TEXTS[status], code: 'bad_request' })
  })
  return server
}

/** Exactly one Host: with two, a proxy in front and we could each believe another one. */
function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host')
  return hosts.length === 1 || (hosts.length === 0 && httpVersion === '1.0')
}

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

/** Writes a whole JSON response onto a bare connection and closes it. */
export function endWithJson(socket: Duplex, status: number, body: object): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const text = JSON.stringify(body)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status] ?? 'Error'}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(text)}\r\n` +
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
