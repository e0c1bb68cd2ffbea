import { setTimeout as delay } from 'node:timers/promises'
import { connect, createInbox, Events, type ConnectionOptions, type NatsConnection } from 'nats'
import { mayChange, mayCreate, type BusUser } from '../../bus-schemas/permissions.js'
import { claimSubject } from '../../bus-schemas/subjects.js'
import { BusUnavailable, WrongLastSequence, type Bus, type Subscription } from './bus.js'
import { readAccess, type BusPlace } from './nats-access.js'
import { createAppender, type Appender } from './nats-append.js'
import { createAsker, questionsIn } from './nats-ask.js'
import { startFollower, type StreamFollowDeps } from './nats-follow.js'
import { backOff, createDialer, type Dialer } from './nats-dial.js'
import { readRange } from './nats-range.js'
import {
  assertDurable,
  assertServer,
  ClusterIncomplete,
  type ExpectedServers,
} from './nats-server-check.js'
import { createNatsStreams, MAX_STORED_BYTES } from './nats-streams.js'
import { leaveSilentServer } from './nats-watch.js'
import { whileUnavailable } from './while-unavailable.js'

const PING_EVERY_MS = 5_000
const DEFAULT_TIMEOUT_MS = 2_000
const CLOSE_WITHIN_MS = 2_000
/** How long a server may take to take this client; each attempt of a start gives it twice as long as the one before. */
export const OPEN_WITHIN_MS = 5_000
const OPEN_WITHIN_AT_MOST_MS = 20_000
/** The client's own time limit is not reached: see createDialer. */
const CLIENT_LIMIT_AFTER_MS = 1_000
const WATCH_EVERY_MS = 2_000

export interface NatsBusOptions extends BusPlace {
  /** The process's name, shown by the server's monitoring. */
  readonly name: string
  /** Whose credentials and inbox it has; absent in a program that no venue knows. */
  readonly user?: BusUser
  /** Timeout of appends and other requests. */
  readonly timeoutMs?: number
  /** Faults that the bus recovers from by itself, and checks that it cannot make, for the log. */
  readonly onWarning?: (message: string) => void
}

/**
 * A bus over NATS JetStream. Waits until a server answers, and until its cluster is complete (ClusterIncomplete); throws
 * BusMisconfigured when its configuration is not safe, and BusAccessRefused when the way to it is not.
 * Reconnects for ever.
 */
export async function connectNatsBus(options: NatsBusOptions): Promise<Bus> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, onWarning = () => undefined, replicas = 1 } = options
  const access = readAccess(options, options.user)
  if (options.credentials === undefined) {
    onWarning('no NATS_CREDENTIALS: every program of this machine may read and write the bus')
  }
  const { connection, dialer } = await connectPatiently(onWarning, {
    ...access,
    noRandomize: true,
    ignoreClusterUpdates: true,
    name: options.name,
    maxReconnectAttempts: -1,
    pingInterval: PING_EVERY_MS,
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  })
  try {
    const check = () => assertConnection(connection, options, { replicas, onWarning })
    await patiently(check, (error) => {
      if (error instanceof ClusterIncomplete) onWarning(`waiting for the cluster: ${error.message}`)
      else throw error
    })
    const { user, credentials } = options
    const isLimited = user !== undefined && credentials !== undefined
    const streams = await createNatsStreams(connection, timeoutMs, {
      create: (stream) => !isLimited || mayCreate(user, stream),
      change: (stream) => !isLimited || mayChange(user, stream),
    })
    const refusals: Refusals = { onRefused: () => undefined, onWarning }
    const link = watchLink({ connection, dialer }, refusals)
    if (access.servers.length > 1) {
      leaveSilentServer({ connection, streams, onWarning })
      link.onReconnect(() => void check().catch((error: unknown) => onWarning(String(error))))
    }
    const newInbox = () => createInbox(access.inboxPrefix)
    const { isConnected } = link
    const appender = createAppender({ connection, newInbox, isConnected, timeoutMs })
    refusals.onRefused = (subject) => appender.refused(subject)
    const deps = { connection, newInbox, streams, onWarning, watchEveryMs: WATCH_EVERY_MS, ...link }
    return assemble(deps, appender, replicas)
  } catch (error) {
    await connection.close()
    throw error
  }
}

interface DialedConnection {
  readonly connection: NatsConnection
  readonly dialer: Dialer
}

/** Tries until a server takes this client; says why one does not, once while it is the same. */
function connectPatiently(
  onWarning: (message: string) => void,
  options: ConnectionOptions & { readonly servers: string[] },
): Promise<DialedConnection> {
  let openWithinMs = OPEN_WITHIN_MS / 2
  const attempt = async (): Promise<DialedConnection> => {
    openWithinMs = Math.min(openWithinMs * 2, OPEN_WITHIN_AT_MOST_MS)
    const dialer = createDialer(options.servers, openWithinMs)
    const timeout = openWithinMs + CLIENT_LIMIT_AFTER_MS
    const reconnectDelayHandler = () => dialer.waitMs()
    try {
      const connection = await connect({ ...options, timeout, reconnectDelayHandler })
      dialer.connected()
      void connection.closed().then(() => dialer.end())
      return { connection, dialer }
    } catch (error) {
      dialer.end()
      throw error
    }
  }
  return patiently(attempt, (error) => onWarning(`no connection to the bus: ${messageOf(error)}`))
}

/** Tries until it succeeds. Hands on each error that differs from the one before; throws what `onError` throws. */
async function patiently<T>(
  attempt: () => Promise<T>,
  onError: (error: unknown) => void,
): Promise<T> {
  const since = performance.now()
  let said: string | undefined
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (messageOf(error) !== said) onError(error)
      said = messageOf(error)
      await delay(backOff(performance.now() - since))
    }
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

async function assertConnection(
  connection: NatsConnection,
  { monitorUrls = [] }: Pick<BusPlace, 'monitorUrls'>,
  expected: Omit<ExpectedServers, 'serverId' | 'isClustered'>,
): Promise<void> {
  const { info } = connection
  if (info === undefined) throw new BusUnavailable('the server did not introduce itself')
  assertServer(
    {
      serverId: info.server_id,
      version: info.version,
      maxPayload: info.max_payload,
      jetstream: info.jetstream === true,
    },
    MAX_STORED_BYTES,
  )
  if (monitorUrls.length > 0 || expected.replicas > 1) {
    const isClustered = info.cluster !== undefined
    return assertDurable(monitorUrls, { serverId: info.server_id, isClustered, ...expected })
  }
  expected.onWarning(
    'no monitoring address of nats-server: whether it syncs before it acknowledges is unchecked',
  )
}

/** What becomes of what the server does not permit. */
interface Refusals {
  /** It was to be published there. */
  onRefused: (subject: string) => void
  readonly onWarning: (message: string) => void
}

/** Tracks whether the connection is up, and what the server refuses. */
function watchLink(
  { connection, dialer }: DialedConnection,
  refusals: Refusals,
): Pick<StreamFollowDeps, 'isConnected' | 'onReconnect'> {
  let connected = true
  const callbacks = new Set<() => void>()
  const follow = async (): Promise<void> => {
    for await (const { type, permissionContext } of connection.status()) {
      if (permissionContext !== undefined) {
        const { operation, subject } = permissionContext
        refusals.onWarning(`the bus does not permit this user to ${operation} ${subject}`)
        if (operation === 'publish') refusals.onRefused(subject)
      }
      if (type === Events.Disconnect) connected = false
      if (type !== Events.Reconnect) continue
      connected = true
      dialer.connected()
      for (const callback of callbacks) callback()
    }
  }
  void follow()
  return {
    isConnected: () => connected && !connection.isClosed(),
    onReconnect: (callback) => {
      callbacks.add(callback)
      return () => callbacks.delete(callback)
    },
  }
}

function assemble(deps: StreamFollowDeps, appender: Appender, replicas: number): Bus {
  const { connection, newInbox, isConnected } = deps
  const followers = new Set<Subscription>()
  const asker = createAsker({ connection, newInbox, isConnected })
  let closed = false
  const isClosed = (): BusUnavailable => new BusUnavailable('the bus is closed')
  const assertOpen = (): void => {
    if (closed) throw isClosed()
  }
  return {
    isConnected,
    ...streamCalls({ deps, appender, replicas, assertOpen }),
    follow: (options) => {
      assertOpen()
      const follower = startFollower(deps, options)
      followers.add(follower)
      void follower.ended.then(() => followers.delete(follower))
      return Promise.resolve(follower)
    },
    ask: (subject, data, timeoutMs) =>
      closed ? Promise.reject(isClosed()) : asker.ask(subject, data, timeoutMs),
    answer: async (subject, queue, onAsk) => {
      assertOpen()
      return listen(deps, { subject, queue }, onAsk)
    },
    reply(replyTo, data) {
      assertOpen()
      asker.reply(replyTo, data)
    },
    close: async () => {
      if (closed) return
      closed = true
      for (const follower of followers) await follower.stop()
      appender.close()
      asker.close()
      // Answers of this turn are sent at its end.
      await new Promise(setImmediate)
      if (isConnected()) await Promise.race([connection.flush(), delay(CLOSE_WITHIN_MS)])
      await connection.close()
    },
  }
}

interface StreamCallsDeps {
  readonly deps: StreamFollowDeps
  readonly appender: Appender
  readonly replicas: number
  readonly assertOpen: () => void
}

type StreamCalls = Omit<Bus, 'isConnected' | 'follow' | 'ask' | 'answer' | 'reply' | 'close'>

/** The calls about streams and claims. */
function streamCalls({ deps, appender, replicas, assertOpen }: StreamCallsDeps): StreamCalls {
  const { streams } = deps
  return {
    declareStream: async (spec) => {
      assertOpen()
      await whileUnavailable(() => streams.declare(spec, replicas))
    },
    declareClaims: async (spec) => {
      assertOpen()
      await whileUnavailable(() => streams.declareClaims(spec, replicas))
    },
    claimOnce: async (bucket, key) => {
      assertOpen()
      return claimOnce(appender, bucket, key)
    },
    append: async (subject, data, options) => {
      assertOpen()
      return appender.append(subject, data, options)
    },
    streamState: async (stream) => {
      assertOpen()
      return streams.state(stream)
    },
    streamVersion: async (stream) => {
      assertOpen()
      return whileUnavailable(() => streams.version(stream))
    },
    raiseStreamVersion: async (stream, version) => {
      assertOpen()
      await whileUnavailable(() => streams.raiseVersion(stream, version))
    },
    lastMessage: async (stream) => {
      assertOpen()
      return streams.last(stream)
    },
    read: async (stream, fromSeq, limit) => {
      assertOpen()
      return readRange(deps, stream, fromSeq, limit)
    },
    trim: async (stream, belowSeq) => {
      assertOpen()
      await streams.trim(stream, belowSeq)
    },
  }
}

async function claimOnce(appender: Appender, bucket: string, key: string): Promise<boolean> {
  try {
    await appender.append(claimSubject(bucket, key), new Uint8Array(), { firstOfSubject: true })
    return true
  } catch (error) {
    if (error instanceof WrongLastSequence) return false
    throw error
  }
}

async function listen(
  { connection, isConnected, onWarning }: StreamFollowDeps,
  { subject, queue }: { readonly subject: string; readonly queue: string },
  onAsk: (data: Uint8Array, replyTo: string) => void,
): Promise<Subscription> {
  const subscription = connection.subscribe(subject, {
    queue,
    callback: (error, message) => {
      if (error !== null || message.reply === undefined) return
      const { reply, data } = message
      callOutside(() => {
        for (const each of questionsIn(data, reply, onWarning)) onAsk(each.data, each.replyTo)
      })
    },
  })
  // After the flush the server has the subscription: later requests arrive.
  if (isConnected()) await connection.flush()
  return {
    stop: async () => {
      if (isConnected()) await subscription.drain()
      else subscription.unsubscribe()
    },
  }
}

/** Rethrows an error outside the client, which would treat it as a fault of the connection. It ends the process. */
function callOutside(call: () => void): void {
  try {
    call()
  } catch (error) {
    setImmediate(() => {
      throw error
    })
  }
}
