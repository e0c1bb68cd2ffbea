import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { SessionLimits } from './limits.js'
import { errorFrame, textFrame } from './server-frames.js'

/** The sending side of one client's socket, bounded, with the heartbeat that notices its death. */
export interface Connection {
  isOpen(): boolean
  /** Sends one text frame. */
  send(text: string): void
  /** Writes live frames; a client with too much waiting is closed as a slow consumer. */
  deliver(frames: Buffer): void
  /**
   * Writes a snapshot or a part of a replay. Resolves with true when the client has taken it, with false when the
   * connection is over or the client was too slow.
   */
  writeBulk(frames: Buffer): Promise<boolean>
  /** Takes no more of what the client sends, but for what has arrived, until `resume`. */
  pause(): void
  resume(): void
  /** Begins the closing handshake; cuts the connection when the client does not finish it within `withinMs`. */
  close(code: number, reason: string, withinMs?: number): void
}

export interface ConnectionParts {
  readonly ws: WebSocket
  /** The socket under `ws`. Complete frames are written to it directly, between those that `ws` writes itself. */
  readonly socket: Duplex
  readonly limits: SessionLimits
}

export function createConnection({ ws, socket, limits }: ConnectionParts): Connection {
  let lagging: NodeJS.Timeout | undefined
  /** Of the bytes that wait in the socket, those that were written as bulk. */
  let bulkBytes = 0

  const isOpen = (): boolean => ws.readyState === ws.OPEN

  function close(code: number, reason: string, withinMs = limits.closeWithinMs): void {
    if (!isOpen()) return
    ws.close(code, reason)
    const cut = setTimeout(() => ws.terminate(), withinMs)
    ws.once('close', () => clearTimeout(cut))
  }

  function closeSlow(): void {
    if (!isOpen()) return
    socket.write(textFrame(errorFrame('slow_consumer')))
    close(1013, 'slow_consumer')
  }

  function deliver(frames: Buffer): void {
    if (!isOpen()) return
    socket.write(frames)
    const waiting = liveBytesWaiting()
    if (waiting > limits.maxBacklogBytes) closeSlow()
    // A burst of one turn waits for the next turn even where the client is fast, so being over is not yet being slow.
    else if (waiting > limits.maxWaitingBytes) lagging ??= setTimeout(judge, limits.catchUpWithinMs)
  }

  const liveBytesWaiting = (): number => socket.writableLength - bulkBytes

  function judge(): void {
    lagging = undefined
    if (liveBytesWaiting() > limits.maxWaitingBytes) closeSlow()
  }

  function forgive(): void {
    clearTimeout(lagging)
    lagging = undefined
  }

  function writeBulk(frames: Buffer): Promise<boolean> {
    if (bulkBytes > limits.maxBulkBytes) closeSlow()
    if (!isOpen()) return Promise.resolve(false)
    bulkBytes += frames.length
    return new Promise((resolve) => {
      const patience = limits.drainWithinMs + frames.length / limits.minBytesPerMs
      const late = setTimeout(closeSlow, patience)
      socket.write(frames, () => {
        clearTimeout(late)
        bulkBytes -= frames.length
        resolve(isOpen())
      })
    })
  }

  socket.on('drain', forgive)
  ws.once('close', forgive)
  // A ping would wait behind the bulk, which has a watch of its own.
  keepAlive(ws, { limits, isBusy: () => bulkBytes > 0, onDead: () => close(1001, 'no pong') })
  return {
    isOpen,
    send: (text) => deliver(textFrame(text)),
    deliver,
    writeBulk,
    pause: () => ws.pause(),
    resume: () => ws.resume(),
    close,
  }
}

interface KeepAlive {
  readonly limits: SessionLimits
  readonly isBusy: () => boolean
  readonly onDead: () => void
}

function keepAlive(ws: WebSocket, { limits, isBusy, onDead }: KeepAlive): void {
  let unanswered: NodeJS.Timeout | undefined
  const heart = setInterval(() => {
    if (isBusy() || ws.readyState !== ws.OPEN) return
    ws.ping()
    unanswered ??= setTimeout(onDead, limits.pongWithinMs)
  }, limits.pingEveryMs)
  const forgive = (): void => {
    clearTimeout(unanswered)
    unanswered = undefined
  }
  ws.on('pong', forgive)
  ws.once('close', () => {
    clearInterval(heart)
    forgive()
  })
}
