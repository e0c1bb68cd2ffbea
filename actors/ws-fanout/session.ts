import { createHash } from 'node:crypto'
import type { AskedKey } from '../../bus-schemas/owner-accounts.js'
import { socketNonces } from '../../bus-schemas/subjects.js'
import { proveFrame, type ReadKeyEnd } from '../../chain/signing/prove-frame.js'
import { verifyFrame } from '../../chain/signing/verify-frame.js'
import type { Address } from '../../core/action.js'
import { KEY_ENDED, readAuthFrame, type FrameWords } from '../../core/entry/auth-frame.js'
import type { SocketError } from '../../interface/socket.js'
import { AppendRefused, AppendUnknown, BusUnavailable, type Bus } from '../../runtime/bus/bus.js'
import { parseClientFrame, type ClientFrame } from './client-frames.js'
import type { ClientConnection } from './connection.js'
import type { LeaseKeeper } from './lease-keeper.js'
import { createSocketLeases } from './leases.js'
import { KEEP_NONCES_MS } from './limits.js'
import type { MarketFeed } from './market-feed.js'
import { createOrderEntry, underLease, type OrderEntryParts } from './order-entry.js'
import { ackFrame, errorFrame, pongFrame } from './server-frames.js'
import {
  createSubscriptions,
  type Subscriptions,
  type SubscriptionsParts,
} from './subscriptions.js'

/** The protocol state of one client. */
export interface ClientSession {
  /** Answers one text frame; answers keep the order of the frames. */
  onText(text: string): void
  /** A market is listed from now on. */
  onListed(feed: MarketFeed): void
  /** The session key by which it is authenticated now; undefined when the owner's own frame did, or none yet. */
  sessionKey(): AskedKey | undefined
  /** That key has ended: says so and closes the connection. */
  endKey(): void
  /** The connection is closed: ends every subscription. */
  end(): void
}

export interface SessionParts
  extends Omit<SubscriptionsParts, 'limits'>, Omit<OrderEntryParts, 'limits'> {
  readonly limits: SubscriptionsParts['limits'] & OrderEntryParts['limits']
  readonly authenticate: Authenticate
  readonly leases: Pick<LeaseKeeper, 'hold' | 'ask'>
}

type Auth = Extract<ClientFrame, { op: 'auth' }>

export function createSession(parts: SessionParts): ClientSession {
  const { connection, authenticate } = parts
  const subscriptions = createSubscriptions(parts)
  const ofSocket = {
    connection,
    findMarket: (identifier: string) => parts.findFeed(identifier)?.market.market,
    listedMarkets: () => parts.listedFeeds().map(({ market }) => market.market),
  }
  const entry = createOrderEntry({ ...parts, ...ofSocket })
  const leases = createSocketLeases(parts.leases, ofSocket, parts.log)
  /** The authenticated address of this connection, and the key of the frame that was accepted last. */
  let [owner, key]: readonly (Address | undefined)[] = []
  let isAuthenticating = false
  /** Frames received while an auth frame is checked; few, because the connection is paused meanwhile. */
  const queued: string[] = []

  function onText(text: string): void {
    if (!connection.isOpen()) return
    if (isAuthenticating) {
      queued.push(text)
      return
    }
    const parsed = parseClientFrame(text)
    if ('frame' in parsed) return answer(parsed.frame)
    const { code, ...context } = parsed.problem
    connection.send(errorFrame(code, context))
  }

  function answer(frame: ClientFrame): void {
    switch (frame.op) {
      case 'ping':
        return connection.send(pongFrame(frame.reqId))
      case 'auth':
        return void auth(frame)
      case 'cancel_on_disconnect':
      case 'cancel_all_after':
        return leases.request(frame, owner)
      case 'subscribe':
        return subscriptions.subscribe(frame, owner)
      case 'unsubscribe':
        return subscriptions.unsubscribe(frame, owner)
      case 'cancel_all':
        return entry.cancelAll(frame, owner)
      default:
        return entry.enter(underLease(frame, owner, leases.leaseId()))
    }
  }

  async function auth({ fields, reqId }: Auth): Promise<void> {
    isAuthenticating = true
    connection.pause()
    const result = await authenticate(fields, owner)
    isAuthenticating = false
    if ('owner' in result) [owner, key] = [result.owner, result.key]
    connection.send(authAnswer(result, reqId))
    connection.resume()
    for (const text of queued.splice(0)) onText(text)
  }

  const end = (): void => {
    subscriptions.end()
    leases.end()
  }
  const onListed = tellListed(connection, subscriptions)
  const sessionKey = () => (owner === undefined || key === undefined ? undefined : { owner, key })
  return { onText, onListed, sessionKey, endKey: closing(connection), end }
}

const authAnswer = (result: Authentication, reqId: string | undefined): string =>
  'owner' in result
    ? ackFrame('authenticated', { reqId })
    : errorFrame(result.code ?? 'auth_failed', { reqId, message: result.reason })

const closing = (connection: Pick<ClientConnection, 'isOpen' | 'send' | 'close'>) => (): void => {
  if (!connection.isOpen()) return
  connection.send(errorFrame('session_key_ended'))
  connection.close(1008, 'session_key_ended')
}

const tellListed =
  (connection: Pick<ClientConnection, 'isOpen'>, subscriptions: Pick<Subscriptions, 'onListed'>) =>
  (feed: MarketFeed): void => {
    if (!connection.isOpen()) return
    subscriptions.onListed(feed)
  }

/** The authenticated address in lower case with the session key that has signed for it, or the reason for refusal. */
export type Authentication =
  | { readonly owner: Address; readonly key: Address | undefined }
  | { readonly reason: string; readonly code?: SocketError['code'] }

/**
 * Checks an auth frame and claims its nonce, which authenticates one socket of the whole venue. A socket that is already
 * authenticated for `bound` accepts no other address.
 */
export type Authenticate = (fields: unknown, bound: Address | undefined) => Promise<Authentication>

export interface AuthenticateDeps {
  readonly bus: Bus
  readonly words: FrameWords
  readonly readKeyEnd: ReadKeyEnd
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** Declares the bucket of claimed nonces. Throws BusMisconfigured or BusUnavailable. */
export async function openAuthenticate(deps: AuthenticateDeps): Promise<Authenticate> {
  const { bus, words, readKeyEnd, nowMs } = deps
  await bus.declareClaims({
    bucket: socketNonces,
    keepMs: KEEP_NONCES_MS,
    description: 'Nonces of the auth frames that opened a socket',
  })
  return async (fields, bound) => {
    const read = readAuthFrame(fields)
    if ('reason' in read) return read
    const nowSec = Math.floor(nowMs() / 1_000)
    const verified = verifyFrame(read.frame, { purpose: 'socket', words, nowSec })
    if ('reason' in verified) return verified
    const owner = 'owner' in verified ? verified.owner : verified.keyOf
    if (bound !== undefined && bound !== owner) {
      return { reason: 'this connection is authenticated for another address' }
    }
    // Before the nonce is taken: otherwise any key could use up an owner's.
    const proven = await proveFrame(verified, readKeyEnd, nowMs())
    if (proven === 'ended') return { reason: KEY_ENDED, code: 'session_key_ended' }
    if (proven === 'unreadable')
      return { reason: 'the session key could not be checked: sign a new frame' }
    const isFirstUse = await claimNonce(bus, owner, read.frame.nonce)
    if (isFirstUse === undefined)
      return { reason: 'the nonce could not be checked: sign a new frame' }
    return isFirstUse ? { owner, key: proven.key } : { reason: 'nonce was used before' }
  }
}

/** Whether this is the nonce's first use; undefined when the bus does not answer, and then it may be claimed. */
async function claimNonce(bus: Bus, owner: Address, nonce: string): Promise<boolean | undefined> {
  // A digest, so that no text chosen by a client is a key on the bus.
  const key = createHash('sha256').update(`${owner} ${nonce}`).digest('hex')
  try {
    return await bus.claimOnce(socketNonces, key)
  } catch (error) {
    const unknown = [AppendUnknown, AppendRefused, BusUnavailable]
    if (unknown.some((kind) => error instanceof kind)) return undefined
    throw error
  }
}
