import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** How long a server may take to say its first word: a kernel accepts for a server that is frozen. */
const GREETED_WITHIN_MS = 3_000
const SHORTEST_WAIT_MS = 200
const LONGEST_WAIT_MS = 2_000
/** Of an address without one. */
const DEFAULT_PORT = 4222

/** Watches the sockets of one client, from when it is made. */
export interface Dialer {
  /** Call when the client is connected: its newest socket is. */
  connected(): void
  /** How long to wait between two attempts, in milliseconds: a half of the time that the client has tried, within bounds. */
  waitMs(): number
  /** Call when the client is closed, or was not opened. */
  end(): void
}

interface DialWatch {
  /** Of the servers that the client knows. */
  readonly ports: ReadonlySet<number>
  /** How long a server may take until the client is connected. */
  readonly openWithinMs: number
  /** On the clock of performance.now. */
  connectedAt: number
  /** The first attempt since then. */
  tryingSince: number | undefined
}

/** The clients of this process: nearly always one. */
const watches = new Set<DialWatch>()
let isListening = false

/**
 * Destroys a socket to one of these servers over which the client has not connected in time. The client's own time limit leaves
 * the socket open: a server that was frozen greets it later, and the end of that socket then ends the connection that was made
 * meanwhile, so that a freeze of one second breaks connections for several. Sockets are told by the port that they have reached;
 * those of other servers are left alone.
 */
export function createDialer(servers: readonly string[], openWithinMs: number): Dialer {
  const ports = new Set(servers.map(portOf))
  const watch: DialWatch = { ports, openWithinMs, connectedAt: -Infinity, tryingSince: undefined }
  watches.add(watch)
  if (!isListening) subscribe('net.client.socket', onSocket)
  isListening = true
  return {
    connected: () => {
      watch.connectedAt = performance.now()
      watch.tryingSince = undefined
    },
    waitMs: () => {
      watch.tryingSince ??= performance.now()
      return backOff(performance.now() - watch.tryingSince)
    },
    end: () => void watches.delete(watch),
  }
}

/** How long to wait after having tried for so long. */
export const backOff = (triedMs: number): number =>
  Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, triedMs / 2))

/** The port of an address such as `tls://bus-a:4222` or `bus-a`. */
function portOf(server: string): number {
  const [, port] = /:([0-9]+)\/?$/.exec(server) ?? []
  return port === undefined ? DEFAULT_PORT : Number.parseInt(port, 10)
}

function onSocket(message: unknown): void {
  const { socket } = message as { socket: Socket }
  const openedAt = performance.now()
  socket.once('connect', () => watchSocket(socket, openedAt))
}

function watchSocket(socket: Socket, openedAt: number): void {
  const own = [...watches].filter(({ ports }) => ports.has(socket.remotePort ?? 0))
  if (own.length === 0) return
  const openWithinMs = Math.max(...own.map((watch) => watch.openWithinMs))
  const isConnected = () => own.some(({ connectedAt }) => connectedAt >= openedAt)
  const leftMs = openWithinMs - (performance.now() - openedAt)
  // The client has given it up already.
  if (leftMs <= 0) return void socket.destroy(late(openWithinMs))
  const giveUpUnless = (isWell: () => boolean, withinMs: number, limitMs: number) => {
    // What has arrived while this process was busy is read before the second look.
    const look = () => isWell() || setImmediate(() => isWell() || socket.destroy(late(limitMs)))
    setTimeout(look, withinMs).unref()
  }
  giveUpUnless(() => socket.bytesRead > 0, GREETED_WITHIN_MS, GREETED_WITHIN_MS)
  giveUpUnless(isConnected, leftMs, openWithinMs)
}

const late = (withinMs: number): Error =>
  new Error(`the server has not taken this client within ${withinMs} ms`)
