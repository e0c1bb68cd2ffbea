import { setTimeout as delay } from 'node:timers/promises'
import {
  MessagesGone,
  StreamMissing,
  StreamRolledBack,
  type BusMessage,
  type FollowOptions,
  type Subscription,
} from './bus.js'
import { openPuller, type PullerLink } from './nats-read.js'
import type { NatsStreams } from './nats-streams.js'

const PULL = { messages: 256, bytes: 4 * 1_048_576, expiresMs: 30_000 }
/** The next pull starts when at most this many messages are queued: the bound is this plus one pull. */
const REFILL_BELOW = 128
const PULL_OVERDUE_MS = PULL.expiresMs + 2_000
const PAUSE_BEFORE_REBUILD_MS = 100
/** A stream that is followed from its beginning may be created later: its writer starts at the same time as its readers. */
const MAY_BE_MISSING_MS = 30_000

export interface StreamFollowDeps extends PullerLink {
  readonly streams: NatsStreams
  readonly isConnected: () => boolean
  /** Calls back after each reconnect; the returned function ends that. */
  readonly onReconnect: (callback: () => void) => () => void
  /** Interval of the check against the end of the stream; two failed checks mean that the follower has stalled. */
  readonly watchEveryMs: number
  /** A fault that the follower recovers from by itself, for the log. */
  readonly onWarning: (message: string) => void
}

interface StreamFollower {
  readonly deps: StreamFollowDeps
  readonly options: FollowOptions
  /** On the clock of performance.now. */
  readonly startedAt: number
  /** The next message for the handler. */
  nextSeq: number
  over: boolean
  lastWarning: string | undefined
}

/** One reader of the stream, from its creation until it fails; the follower then opens another. */
interface PullSession {
  readonly queue: BusMessage[]
  pulledAt: number | undefined
  broken: string | undefined
  wake: () => void
}
const noop = (): void => undefined

/**
 * Bus.follow. Does not rely on recovery by the server or the client: it counts sequences itself and replaces a reader that
 * fails, skips a message or stalls by one that starts at nextSeq.
 */
export function startFollower(
  deps: StreamFollowDeps,
  options: FollowOptions,
): Subscription & { readonly ended: Promise<void> } {
  const follower: StreamFollower = {
    deps,
    options,
    startedAt: performance.now(),
    nextSeq: options.fromSeq,
    over: false,
    lastWarning: undefined,
  }
  let wakeSession = (): void => undefined
  const ended = followFor(follower, (session) => {
    wakeSession = () => session.wake()
  })
  return {
    ended,
    stop: () => {
      follower.over = true
      wakeSession()
      return Promise.resolve()
    },
  }
}

async function followFor(
  follower: StreamFollower,
  onSession: (session: PullSession) => void,
): Promise<void> {
  while (!follower.over) {
    try {
      const reason = follower.deps.isConnected()
        ? await runSession(follower, onSession)
        : 'disconnected'
      if (reason !== undefined) warn(follower, `reader replaced, ${reason}`)
    } catch (error) {
      if (error instanceof FollowFailed) return end(follower, error.cause)
      if (!mayComeYet(follower, error)) warn(follower, String(error))
    }
    if (!follower.over) await delay(PAUSE_BEFORE_REBUILD_MS)
  }
}

const mayComeYet = ({ nextSeq, startedAt }: StreamFollower, error: unknown): boolean =>
  error instanceof StreamMissing &&
  nextSeq === 1 &&
  performance.now() - startedAt < MAY_BE_MISSING_MS

/** Logs a warning once while it repeats. */
function warn(follower: StreamFollower, message: string): void {
  if (follower.over || follower.lastWarning === message) return
  follower.lastWarning = message
  follower.deps.onWarning(`${follower.options.stream}: ${message}`)
}

/** Wraps an error that ends the follower, as opposed to one that it recovers from. */
class FollowFailed extends Error {
  override readonly name = 'FollowFailed'
}
const failed = (cause: unknown): FollowFailed => new FollowFailed('follower ended', { cause })

function end(follower: StreamFollower, cause: unknown): void {
  if (follower.over) return
  follower.over = true
  follower.options.onError(cause instanceof Error ? cause : new Error(String(cause)))
}

/** Resolves with the reason for the end of the session; undefined when the follower was stopped. */
async function runSession(
  follower: StreamFollower,
  onSession: (session: PullSession) => void,
): Promise<string | undefined> {
  const { deps, options } = follower
  await assertReachable(follower)
  const name = await deps.streams.createReader(options.stream, follower.nextSeq)
  const session: PullSession = {
    queue: [],
    pulledAt: undefined,
    broken: undefined,
    wake: noop,
  }
  onSession(session)
  const breakOff = (reason: string): void => {
    session.broken ??= reason
    session.wake()
  }
  const puller = openPuller(
    deps,
    { stream: options.stream, name },
    {
      onMessage: (message) => {
        session.queue.push(message)
        session.wake()
      },
      onDone: () => {
        session.pulledAt = undefined
        session.wake()
      },
      onBroken: breakOff,
    },
  )
  const offReconnect = deps.onReconnect(() => breakOff('reconnected'))
  const stopWatching = watch(follower, session, breakOff)
  try {
    await handleAll(follower, session, () => puller.pull(PULL))
    return follower.over ? undefined : session.broken
  } finally {
    stopWatching()
    offReconnect()
    puller.close()
    deps.streams.deleteReader(options.stream, name)
  }
}

/** Throws FollowFailed when the stream can never deliver nextSeq. */
async function assertReachable({ deps, options, nextSeq }: StreamFollower): Promise<void> {
  const { firstSeq, lastSeq } = await deps.streams.state(options.stream)
  if (nextSeq < firstSeq) {
    throw failed(new MessagesGone(`${options.stream} begins at ${firstSeq}, wanted ${nextSeq}`))
  }
  if (nextSeq > lastSeq + 1) {
    throw failed(
      new StreamRolledBack(`${options.stream} ends at ${lastSeq}, expected ${nextSeq - 1}`),
    )
  }
}

/** Passes the messages to the handler in order until the session breaks or the follower is stopped. */
async function handleAll(
  follower: StreamFollower,
  session: PullSession,
  pull: () => void,
): Promise<void> {
  let handled = 0
  while (!follower.over && session.broken === undefined) {
    if (session.pulledAt === undefined && session.queue.length <= REFILL_BELOW) {
      session.pulledAt = performance.now()
      pull()
    }
    const message = session.queue.shift()
    if (message === undefined) {
      await sleep(session)
      continue
    }
    if (message.seq < follower.nextSeq) continue
    if (message.seq > follower.nextSeq) {
      session.broken = `gap before ${message.seq}, expected ${follower.nextSeq}`
      // A new reader starts at nextSeq; if its first message is a later one, nextSeq is gone.
      if (handled === 0)
        throw failed(new MessagesGone(`${follower.options.stream}: ${session.broken}`))
      return
    }
    follower.nextSeq += 1
    handled += 1
    follower.lastWarning = undefined
    const handling = handle(follower, message)
    // Most handlers are synchronous: await only a promise.
    if (handling !== undefined) await handling
  }
}

/** Resolves when the session is woken. */
const sleep = (session: PullSession): Promise<void> =>
  new Promise((resolve) => {
    session.wake = () => {
      // Many messages arrive before the follower goes on; resolving again is not free.
      session.wake = noop
      resolve()
    }
  })

/** Throws, or rejects with, FollowFailed for an error of the handler. */
function handle(follower: StreamFollower, message: BusMessage): Promise<void> | undefined {
  try {
    const handling = follower.options.onMessage(message)
    if (handling === undefined) return undefined
    return handling.catch((cause: unknown) => {
      throw failed(cause)
    })
  } catch (cause) {
    throw failed(cause)
  }
}

/** Breaks the session when the stream is ahead and nothing arrives, or when a pull never ended. */
function watch(
  follower: StreamFollower,
  session: PullSession,
  breakOff: (reason: string) => void,
): () => void {
  let idleSince: number | undefined
  const check = async (): Promise<void> => {
    const { nextSeq, deps, options } = follower
    if (session.queue.length > 0) return
    if (session.pulledAt !== undefined && performance.now() - session.pulledAt > PULL_OVERDUE_MS) {
      return breakOff('a pull was never ended')
    }
    const { lastSeq } = await deps.streams.state(options.stream)
    if (session.queue.length > 0 || follower.nextSeq !== nextSeq) return
    if (lastSeq < nextSeq - 1) return breakOff(`the stream ends at ${lastSeq}`)
    if (lastSeq >= nextSeq && idleSince === nextSeq) return breakOff('stalled')
    idleSince = nextSeq
  }
  const timer = setInterval(() => {
    // When the server does not answer, the next check asks again.
    check().catch(() => undefined)
  }, follower.deps.watchEveryMs)
  return () => clearInterval(timer)
}
