import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** How long a server may take to say its first word: a kernel accepts for a server that is frozen. */
const GREETED_WITHIN_MS = 3_000
const SHORTEST_WAIT_MS = 200
const LONGEST_WAIT_MS = 2_000

/** Watches the sockets of one client. */
export interface Dialer {
  /** Calls `connect`; every socket that the client opens from then on is watched, those of its reconnections too. */
  run<T>(connect: () => Promise<T>): Promise<T>
  /** Call when the client is connected: its newest socket is. */
  connected(): void
  /** How long to wait between two attempts, in milliseconds: a half of the time that the client has tried, within bounds. */
  waitMs(): number
}

interface Watch {
  /** How long a server may take until the client is connected. */
  readonly openWithinMs: number
  /** On the clock of performance.now. */
  connectedAt: number
  /** The first attempt since then. */
  tryingSince: number | undefined
}

const watches = new AsyncLocalStorage<Watch>()
let isListening = false

/**
 * Destroys a socket over which the client has not connected in time. The client's own time limit leaves the socket open: a server
 * that was frozen greets it later, and the end of that socket then ends the connection that was made meanwhile. Each frozen
 * second would cost several later ones.
 */
export function createDialer(openWithinMs: number): Dialer {
  const watch: Watch = { openWithinMs, connectedAt: -Infinity, tryingSince: undefined }
  if (!isListening) subscribe('net.client.socket', onSocket)
  isListening = true
  return {
    run: (connect) => watches.run(watch, connect),
    connected: () => {
      watch.connectedAt = performance.now()
      watch.tryingSince = undefined
    },
    waitMs: () => {
      watch.tryingSince ??= performance.now()
      return backOff(performance.now() - watch.tryingSince)
    },
  }
}

/** How long to wait after having tried for so long. */
export const backOff = (triedMs: number): number =>
  Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, triedMs / 2))

function onSocket(message: unknown): void {
  const watch = watches.getStore()
  if (watch === undefined) return
  const { socket } = message as { socket: Socket }
  const openedAt = performance.now()
  const isConnected = () => watch.connectedAt >= openedAt
  const giveUpUnless = (isWell: () => boolean, withinMs: number) => {
    // What has arrived while this process was busy is read before the second look.
    const look = () => isWell() || setImmediate(() => isWell() || socket.destroy(late(withinMs)))
    setTimeout(look, withinMs).unref()
  }
  giveUpUnless(() => socket.bytesRead > 0, GREETED_WITHIN_MS)
  giveUpUnless(isConnected, watch.openWithinMs)
}

const late = (withinMs: number): Error =>
  new Error(`the server has not taken this client within ${withinMs} ms`)
