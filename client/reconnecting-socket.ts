import { OPEN, platformWebSocket } from './web-socket.js'
import type { WebSocketConstructor, WebSocketLike } from './web-socket.js'

export interface Timing {
  /** First and longest wait before connecting again; it doubles in between, with jitter. */
  readonly minBackoffMs: number
  readonly maxBackoffMs: number
  /** A ping is sent this often, and something has to arrive within this time after it. */
  readonly pingEveryMs: number
}

const TIMING: Timing = { minBackoffMs: 250, maxBackoffMs: 10_000, pingEveryMs: 15_000 }

export interface ReconnectingSocketOptions {
  readonly url: string
  readonly WebSocket?: WebSocketConstructor | undefined
  readonly timing?: Partial<Timing> | undefined
  readonly onOpen: () => void
  readonly onText: (text: string) => void
}

export interface ReconnectingSocket {
  isOpen(): boolean
  /** Sends when the connection is open; otherwise onOpen is the time to say it. */
  send(frame: object): void
  /** Gives this connection up and makes another. */
  reconnect(): void
  close(): void
}

/** Keeps a connection to the venue until it is closed, through failures of either side. */
export function createReconnectingSocket(options: ReconnectingSocketOptions): ReconnectingSocket {
  const { url, onOpen, onText, WebSocket = platformWebSocket() } = options
  const timing = { ...TIMING, ...options.timing }
  let socket: WebSocketLike | undefined
  let backoffMs = timing.minBackoffMs
  let retry: ReturnType<typeof setTimeout> | undefined
  let heard = true
  let closed = false

  const isOpen = (): boolean => socket?.readyState === OPEN

  function connect(): void {
    const current = new WebSocket(url)
    socket = current
    heard = true
    current.onopen = () => {
      backoffMs = timing.minBackoffMs
      onOpen()
    }
    current.onmessage = ({ data }: { data: unknown }) => {
      heard = true
      if (current === socket && typeof data === 'string') onText(data)
    }
    // What went wrong shows as a close; a socket of Node's would throw if nobody listened.
    current.onerror = () => undefined
    current.onclose = () => {
      if (current === socket) connectLater()
    }
  }

  function connectLater(): void {
    socket = undefined
    if (closed) return
    // Half of the wait is random, so that clients that were cut off together do not come back together.
    retry = setTimeout(connect, backoffMs * (0.5 + Math.random() / 2))
    backoffMs = Math.min(backoffMs * 2, timing.maxBackoffMs)
  }

  function reconnect(): void {
    const dead = socket
    if (dead === undefined) return
    connectLater()
    dead.close()
  }

  function beat(): void {
    if (!isOpen()) return
    if (!heard) return reconnect()
    heard = false
    send({ op: 'ping' })
  }

  function send(frame: object): void {
    if (isOpen()) socket?.send(JSON.stringify(frame))
  }

  function close(): void {
    closed = true
    clearTimeout(retry)
    clearInterval(heart)
    socket?.close(1000)
  }

  connect()
  const heart = setInterval(beat, timing.pingEveryMs)
  return { isOpen, send, reconnect, close }
}
