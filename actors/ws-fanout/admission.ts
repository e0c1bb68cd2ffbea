import type { IncomingMessage } from 'node:http'
import type { SessionLimits } from './limits.js'

/** The origins of browsers, the state of the process and its limits as an upgrade meets them. */
export interface AdmissionParts {
  /** Origins of browsers that may connect; `*` is all of them. Clients without an Origin always may. */
  readonly allowedOrigins: readonly string[]
  /** Whether the process knows its markets well enough to serve them. */
  readonly isReady: () => boolean
  readonly limits: SessionLimits
}

/** Why an upgrade is not made, as it is answered. */
export interface UpgradeRefusal {
  readonly status: string
  readonly error: string
  readonly headers?: readonly string[]
}

/** Decides who may connect, and counts who did. */
export interface Admission {
  refuse(request: IncomingMessage): UpgradeRefusal | undefined
  /** Counts a connection until the returned function is called. */
  enter(request: IncomingMessage): () => void
}

export function createAdmission({ allowedOrigins, isReady, limits }: AdmissionParts): Admission {
  const socketsOf = new Map<string, number>()
  let sockets = 0

  function refuse(request: IncomingMessage): UpgradeRefusal | undefined {
    const { origin } = request.headers
    if (request.headers['sec-websocket-version'] !== '13') {
      const headers = ['Sec-WebSocket-Version: 13']
      return { status: '426 Upgrade Required', error: 'unsupported WebSocket version', headers }
    }
    if (origin !== undefined && !allowedOrigins.some((one) => one === '*' || one === origin)) {
      return { status: '403 Forbidden', error: 'origin is not allowed' }
    }
    if (!isReady()) return later('503 Service Unavailable', 'the feed is being read')
    if (sockets >= limits.maxSockets) {
      return later('503 Service Unavailable', 'too many connections')
    }
    const address = addressOf(request)
    const own = socketsOf.get(address) ?? 0
    if (own >= limits.maxSocketsPerAddress && !isLoopback(address)) {
      return later('429 Too Many Requests', 'too many connections from this address')
    }
    return undefined
  }

  function enter(request: IncomingMessage): () => void {
    const address = addressOf(request)
    sockets += 1
    socketsOf.set(address, (socketsOf.get(address) ?? 0) + 1)
    return () => {
      const left = (socketsOf.get(address) ?? 1) - 1
      sockets -= 1
      if (left === 0) socketsOf.delete(address)
      else socketsOf.set(address, left)
    }
  }

  return { refuse, enter }
}

const later = (status: string, error: string): UpgradeRefusal => ({
  status,
  error,
  headers: ['Retry-After: 1'],
})

/**
 * Who is asking: the last entry of `X-Forwarded-For`, which the gateway itself appended, whatever the client wrote
 * before it. Nothing but the gateway reaches this process, so without one it is somebody on this machine.
 */
function addressOf(request: IncomingMessage): string {
  const forwarded = request.headers['x-forwarded-for']
  const entries = (Array.isArray(forwarded) ? forwarded.join() : (forwarded ?? '')).split(',')
  return entries.at(-1)?.trim() || (request.socket.remoteAddress ?? 'unknown')
}

const isLoopback = (address: string): boolean =>
  address === '::1' || /^(::ffff:)?127\./.test(address)
