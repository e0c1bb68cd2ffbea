import type { IncomingMessage } from 'node:http'
import { refusals, refuse, type Refusal } from '../../core/entry/refusals.js'
import type { IsAllowed } from '../../runtime/http/origins.js'
import {
  clientAddress,
  clientKey,
  decrease,
  forwardedFor,
  isLoopback,
  peerOf,
} from '../../runtime/http/connections.js'
import { AUTH_ADDRESSES_MAX, type SessionLimits } from './limits.js'
import { setBounded } from './owner-claims.js'
import type { Authenticate } from './session.js'

/** What decides about an upgrade. */
export interface AdmissionParts {
  /** Which web pages may connect. A client without an Origin header is always allowed. */
  readonly isAllowedOrigin: IsAllowed
  /** Whether every feed has been read. */
  readonly isReady: () => boolean
  /** Number of trusted proxies in front that append to `X-Forwarded-For`; the gateway's relay is not counted. */
  readonly trustedProxies: number
  readonly limits: Pick<
    SessionLimits,
    'maxSockets' | 'maxSocketsPerAddress' | 'authsAtOnce' | 'authEveryMs'
  >
}

/** The answer to a refused upgrade. */
export interface UpgradeRefusal {
  readonly refusal: Refusal
  readonly headers?: Readonly<Record<string, string>>
}

/** Accepts or refuses upgrades, and counts open connections. */
export interface SocketAdmission {
  refuse(request: IncomingMessage): UpgradeRefusal | undefined
  /** Counts a connection until the returned function is called. */
  enter(request: IncomingMessage): () => void
  /** The same check, which also refuses the auth frames of a connection beyond the rate of its address. */
  boundAuth(request: IncomingMessage, authenticate: Authenticate): Authenticate
}

const upgradeRefusals = {
  version: refuse(426)('unsupported_websocket_version', 'unsupported WebSocket version'),
  origin: refusals.originNotAllowed,
  notReady: refuse(503)('feed_not_read', 'the feed is being read'),
  tooMany: refuse(503)('too_many_connections', 'too many connections'),
  tooManyOfAddress: refuse(429)('too_many_connections', 'too many connections from this address'),
}

const retryLater = (refusal: Refusal): UpgradeRefusal => ({
  refusal,
  headers: { 'Retry-After': '1' },
})

export function createAdmission(parts: AdmissionParts): SocketAdmission {
  const { isAllowedOrigin, isReady, trustedProxies, limits } = parts
  const socketsOf = new Map<string, number>()
  let sockets = 0
  const addressOf = (request: IncomingMessage) => socketAddress(request, trustedProxies)
  const mayAuthenticate = createAuthRate(limits)

  return {
    refuse(request) {
      const { origin } = request.headers
      if (request.headers['sec-websocket-version'] !== '13') {
        const headers = { 'Sec-WebSocket-Version': '13' }
        return { refusal: upgradeRefusals.version, headers }
      }
      if (origin !== undefined && !isAllowedOrigin(origin)) {
        return { refusal: upgradeRefusals.origin }
      }
      if (!isReady()) return retryLater(upgradeRefusals.notReady)
      if (sockets >= limits.maxSockets) return retryLater(upgradeRefusals.tooMany)
      const address = addressOf(request)
      const open = socketsOf.get(clientKey(address)) ?? 0
      if (open >= limits.maxSocketsPerAddress && !isLoopback(address)) {
        return retryLater(upgradeRefusals.tooManyOfAddress)
      }
      return undefined
    },
    enter(request) {
      const client = clientKey(addressOf(request))
      sockets += 1
      socketsOf.set(client, (socketsOf.get(client) ?? 0) + 1)
      return () => {
        sockets -= 1
        decrease(socketsOf, client)
      }
    },
    boundAuth(request, authenticate) {
      const address = addressOf(request)
      if (isLoopback(address)) return authenticate
      const client = clientKey(address)
      return async (fields, bound) =>
        mayAuthenticate(client) ? authenticate(fields, bound) : TOO_MANY_AUTHS
    },
  }
}

const TOO_MANY_AUTHS = { reason: 'too many auth frames from this address: wait a second' }

/** Whether a client may send one more auth frame now. */
function createAuthRate({
  authsAtOnce,
  authEveryMs,
}: AdmissionParts['limits']): (client: string) => boolean {
  /** When as many may be sent at once again, in milliseconds of the monotonic clock. */
  const fullAtMs = new Map<string, number>()
  return (client) => {
    const nowMs = performance.now()
    const fullAt = Math.max(fullAtMs.get(client) ?? 0, nowMs) + authEveryMs
    if (fullAt - nowMs > authsAtOnce * authEveryMs) return false
    setBounded(fullAtMs, client, fullAt, AUTH_ADDRESSES_MAX)
    return true
  }
}

/**
 * The client's address. A connection from this machine is the gateway's, which names the client alone in
 * `X-Forwarded-For`, or a proxy's, which appends to it. One from elsewhere is the client's own, or a trusted proxy's.
 */
function socketAddress(request: IncomingMessage, trustedProxies: number): string {
  const peer = peerOf(request)
  if (!isLoopback(peer)) return clientAddress(request, trustedProxies)
  const forwarded = forwardedFor(request)
  return (forwarded.at(-Math.max(1, trustedProxies)) ?? forwarded[0]) || peer
}
