/** The part of a WebSocket that the client uses: that of browsers, of Node from 22 on, or of the package ws. */
export interface WebSocketLike {
  readonly readyState: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(data: string): void
  close(code?: number, reason?: string): void
}

export type WebSocketConstructor = new (url: string) => WebSocketLike

export const OPEN = 1

/** The platform's own WebSocket. Throws when there is none. */
export function platformWebSocket(): WebSocketConstructor {
  const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor }
  if (WebSocket === undefined) {
    throw new Error('this platform has no WebSocket: pass one, for example that of the package ws')
  }
  return WebSocket
}

export interface SocketTiming {
  /** First and longest delay before a reconnect; it doubles with each attempt, with jitter. */
  readonly minBackoffMs: number
  readonly maxBackoffMs: number
  /** Interval of pings; a connection on which nothing arrives within one interval is replaced. */
  readonly pingEveryMs: number
}

const TIMING: SocketTiming = { minBackoffMs: 250, maxBackoffMs: 10_000, pingEveryMs: 15_000 }

export interface ReconnectingSocketOptions {
  readonly url: string
  readonly WebSocket?: WebSocketConstructor | undefined
  readonly timing?: Partial<SocketTiming> | undefined
  readonly onOpen: () => void
  readonly onText: (text: string) => void
  /** The connection is gone: no answer comes by it any more. */
  readonly onLost?: (() => void) | undefined
}

export interface ReconnectingSocket {
  isOpen(): boolean
  /** How many connections were opened so far. */
  connections(): number
  /** Milliseconds since anything arrived, or since the connection was begun. */
  quietMs(): number
  /** Sends while the connection is open; drops the frame otherwise, so send again in onOpen. */
  send(frame: object): void
  /** Closes this connection and opens another. */
  reconnect(): void
  /** Nothing that arrives afterwards is handed on. */
  close(): void
}

/** Keeps a connection to the venue open, reconnecting after failures, until it is closed. */
export function createReconnectingSocket(options: ReconnectingSocketOptions): ReconnectingSocket {
  const { url, onOpen, onText, WebSocket = platformWebSocket() } = options
  const timing = { ...TIMING, ...options.timing }
  let socket: WebSocketLike | undefined
  let backoffMs = timing.minBackoffMs
  let retry: ReturnType<typeof setTimeout> | undefined
  let closed = false
  let [connections, heardAt, checkedAt] = [0, performance.now(), 0]

  const isOpen = (): boolean => socket?.readyState === OPEN

  function connect(): void {
    const current = new WebSocket(url)
    socket = current
    heardAt = performance.now()
    current.onopen = () => {
      backoffMs = timing.minBackoffMs
      connections += 1
      onOpen()
    }
    current.onmessage = ({ data }: { data: unknown }) => {
      heardAt = performance.now()
      if (current === socket && !closed && typeof data === 'string') onText(data)
    }
    // A close follows each error. Without a handler the `ws` package would throw.
    current.onerror = () => undefined
    current.onclose = () => {
      if (current === socket) connectLater()
    }
  }

  function connectLater(): void {
    socket = undefined
    options.onLost?.()
    if (closed) return
    // Half of the delay is random, so that clients disconnected together do not reconnect together.
    retry = setTimeout(connect, backoffMs * (0.5 + Math.random() / 2))
    backoffMs = Math.min(backoffMs * 2, timing.maxBackoffMs)
  }

  function reconnect(): void {
    const dead = socket
    if (dead === undefined) return
    connectLater()
    dead.close()
  }

  function checkAlive(): void {
    if (!isOpen()) return
    if (heardAt < checkedAt) return reconnect()
    checkedAt = performance.now()
    send({ op: 'ping' })
  }

  function send(frame: object): void {
    if (isOpen()) socket?.send(JSON.stringify(frame))
  }

  function close(): void {
    closed = true
    clearTimeout(retry)
    clearInterval(timer)
    socket?.close(1000)
  }

  connect()
  const timer = setInterval(checkAlive, timing.pingEveryMs)
  const seen = { connections: () => connections, quietMs: () => performance.now() - heardAt }
  return { isOpen, ...seen, send, reconnect, close }
}
