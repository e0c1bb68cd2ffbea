import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { SessionLimits } from './limits.js'
import { errorFrame, textFrame } from './server-frames.js'

/** The sending side of one client's socket: bounded buffers, and a heartbeat that detects a dead peer. */
export interface ClientConnection {
  isOpen(): boolean
  /** Sends one text frame. */
  send(text: string): void
  /** Writes live frames; closes a client with too many unsent bytes as a slow consumer. */
  deliver(frames: Buffer): void
  /**
   * Writes a snapshot or a part of a replay, given in parts. Resolves with true when it has left the send buffer, with
   * false when the connection is closed or the client was too slow.
   */
  writeBulk(parts: readonly Buffer[]): Promise<boolean>
  /** Stops reading from the client until `resume`; messages that have arrived are still delivered. */
  pause(): void
  resume(): void
  /** Starts the closing handshake; terminates the connection when it is not complete within `withinMs`. */
  close(code: number, reason: string, withinMs?: number): void
}

export interface ConnectionParts {
  readonly ws: WebSocket
  /** The socket under `ws`. Complete frames are written to it directly, between the frames of `ws` itself. */
  readonly socket: Duplex
  readonly limits: SessionLimits
}

export function createConnection({ ws, socket, limits }: ConnectionParts): ClientConnection {
  const { catchUpWithinMs, drainWithinMs, minBytesPerMs } = limits
  let lagging: NodeJS.Timeout | undefined
  /** Unsent bytes of snapshots and replays. */
  let bulkBytes = 0

  const isOpen = (): boolean => ws.readyState === ws.OPEN

  function close(code: number, reason: string, withinMs = limits.closeWithinMs): void {
    if (!isOpen()) return
    ws.close(code, reason)
    const terminate = setTimeout(() => ws.terminate(), withinMs)
    ws.once('close', () => clearTimeout(terminate))
  }

  function closeSlow(): void {
    if (!isOpen()) return
    socket.write(textFrame(errorFrame('slow_consumer')))
    close(1013, 'slow_consumer', limits.slowCloseWithinMs)
  }

  function deliver(frames: Buffer): void {
    if (!isOpen()) return
    socket.write(frames)
    const unsent = unsentLiveBytes()
    if (unsent > limits.maxBacklogBytes) closeSlow()
    // A burst is sent in the next turn even to a fast client, so the client gets time to catch up.
    else if (unsent > limits.maxWaitingBytes) lagging ??= setTimeout(closeIfSlow, catchUpWithinMs)
  }

  const unsentLiveBytes = (): number => socket.writableLength - bulkBytes

  function closeIfSlow(): void {
    lagging = undefined
    if (unsentLiveBytes() > limits.maxWaitingBytes) closeSlow()
  }

  function clearLag(): void {
    clearTimeout(lagging)
    lagging = undefined
  }

  function writeBulk(parts: readonly Buffer[]): Promise<boolean> {
    if (bulkBytes > limits.maxBulkBytes) closeSlow()
    if (!isOpen()) return Promise.resolve(false)
    const length = lengthOf(parts)
    bulkBytes += length
    return new Promise((resolve) => {
      const timeout = setTimeout(closeSlow, drainWithinMs + length / minBytesPerMs)
      writeParts(socket, parts, () => {
        clearTimeout(timeout)
        bulkBytes -= length
        resolve(isOpen())
      })
    })
  }

  socket.on('drain', clearLag)
  ws.once('close', clearLag)
  keepAlive(ws, { limits, isBusy: () => bulkBytes > 0, onDead: () => close(1001, 'no pong') })
  return {
    isOpen,
    send: (text) => deliver(textFrame(text)),
    deliver,
    writeBulk,
    close,
    pause: () => ws.pause(),
    resume: () => ws.resume(),
  }
}

const EMPTY = Buffer.alloc(0)

const lengthOf = (parts: readonly Buffer[]): number =>
  parts.reduce((sum, part) => sum + part.length, 0)

/** Writes the parts as one; `onSent` is called when the last has left the send buffer. */
function writeParts(socket: Duplex, parts: readonly Buffer[], onSent: () => void): void {
  socket.cork()
  for (const part of parts.slice(0, -1)) socket.write(part)
  socket.write(parts.at(-1) ?? EMPTY, onSent)
  socket.uncork()
}

interface KeepAlive {
  readonly limits: SessionLimits
  /** No pings after bulk data: the ping would wait in the send buffer, and writeBulk has a timeout of its own. */
  readonly isBusy: () => boolean
  readonly onDead: () => void
}

function keepAlive(ws: WebSocket, { limits, isBusy, onDead }: KeepAlive): void {
  let unanswered: NodeJS.Timeout | undefined
  const heartbeat = setInterval(() => {
    if (isBusy() || ws.readyState !== ws.OPEN) return
    ws.ping()
    unanswered ??= setTimeout(onDead, limits.pongWithinMs)
  }, limits.pingEveryMs)
  const clearTimer = (): void => {
    clearTimeout(unanswered)
    unanswered = undefined
  }
  ws.on('pong', clearTimer)
  ws.once('close', () => {
    clearInterval(heartbeat)
    clearTimer()
  })
}
