import {
  AppendUnknown,
  BusMisconfigured,
  BusUnavailable,
  NoAnswer,
  StreamMissing,
  type AppendOptions,
  type Bus,
  type ClaimsSpec,
  type FollowOptions,
  type StreamSpec,
  type Subscription,
} from './bus.js'
import {
  claimIn,
  createMemoryStream,
  declareIn,
  deliver,
  type MemoryClaims,
  type MemoryStream,
} from './memory-stream.js'

/** The clock of a simulation. */
export interface MemoryBusOptions {
  /** Unix milliseconds; stamps `storedAtMs`. */
  readonly nowMs?: () => number
  /** Calls back once after `ms`; returns how to cancel it. Used for the timeouts of questions. */
  readonly setTimer?: (ms: number, callback: () => void) => () => void
}

/** A bus inside one process, for tests and simulation, with the faults of a network on demand. */
export interface MemoryBus extends Bus {
  /** Another connection to the same server; closing or disconnecting it does not affect this one. */
  connect(): MemoryBus
  /** The next append of any connection is stored, but its acknowledgement is lost: AppendUnknown. */
  failNextAppendAck(): void
  /** The next append of any connection is lost before it is stored: AppendUnknown. */
  loseNextAppend(): void
  /** Appends are stored, but none is acknowledged before the returned function is called. */
  holdAppendAcks(): () => void
  /** Disconnects this connection from the server, or reconnects it. Followers pause and resume. */
  setConnected(connected: boolean): void
}

interface Answerer {
  readonly queue: string
  readonly onAsk: (data: Uint8Array, replyTo: string) => void
  readonly isReachable: () => boolean
}

/** The state shared by all connections. */
interface Server {
  readonly options: Required<MemoryBusOptions>
  readonly streams: Map<string, MemoryStream>
  readonly claims: MemoryClaims
  readonly answerers: Map<string, Answerer[]>
  readonly inboxes: Map<string, (data: Uint8Array) => void>
  /** Followers of undeclared streams. */
  readonly awaitingStreams: (() => void)[]
  questions: number
  appendFault: 'none' | 'lose' | 'loseAck'
  acksHeld: Promise<void>
}

/** A new server in memory and one connection to it. Same contract as the NATS bus, without durability. */
export function createMemoryBus(options: MemoryBusOptions = {}): MemoryBus {
  return connectTo({
    options: { nowMs: options.nowMs ?? Date.now, setTimer: options.setTimer ?? startTimer },
    streams: new Map(),
    claims: new Map(),
    answerers: new Map(),
    inboxes: new Map(),
    awaitingStreams: [],
    questions: 0,
    appendFault: 'none',
    acksHeld: Promise.resolve(),
  })
}

function startTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

function connectTo(server: Server): MemoryBus {
  let connected = true
  let closed = false
  const isReachable = (): boolean => connected && !closed
  const assertOpen = (): void => {
    if (closed) throw new BusUnavailable('the bus is closed')
  }
  const stream = (name: string): MemoryStream => {
    if (!isReachable()) throw new BusUnavailable(closed ? 'the bus is closed' : 'disconnected')
    return streamOf(server, name)
  }
  const wakeAll = (): void => {
    for (const each of server.streams.values()) each.wake()
  }
  return {
    ...serverControls(server),
    ...claimCalls(server, isReachable),
    connect: () => connectTo(server),
    setConnected(value) {
      connected = value
      wakeAll()
    },
    isConnected: isReachable,
    declareStream: (spec) => settle(() => declare(server, spec, isReachable)),
    append: async (subject, data, appendOptions = {}) => {
      assertOpen()
      if (!connected) throw new AppendUnknown(`${subject}: disconnected`)
      return append(server, subject, data, appendOptions)
    },
    streamState: (name) => settle(() => stream(name).state()),
    streamVersion: (name) => settle(() => stream(name).version),
    raiseStreamVersion: (name, version) =>
      settle(() => {
        const raised = stream(name)
        raised.version = Math.max(raised.version, version)
      }),
    lastMessage: (name) =>
      settle(() => {
        const { firstSeq, lastSeq } = stream(name).state()
        return lastSeq < firstSeq ? undefined : stream(name).read(lastSeq, 1)[0]
      }),
    read: (name, fromSeq, limit) => settle(() => stream(name).read(fromSeq, limit)),
    trim: (name, belowSeq) => settle(() => stream(name).trim(belowSeq)),
    follow: (followOptions) =>
      settle(() => {
        assertOpen()
        const flow = { isOver: () => closed, isPaused: () => !connected }
        return startFollowing(server, followOptions, flow)
      }),
    ask: async (subject, data, timeoutMs) => {
      assertOpen()
      if (!connected) throw new NoAnswer(`${subject}: disconnected`)
      return ask(server, subject, data, timeoutMs)
    },
    answer: (subject, queue, onAsk) =>
      settle(() => {
        assertOpen()
        return listen(server, subject, { queue, onAsk, isReachable })
      }),
    reply(replyTo, data) {
      assertOpen()
      if (connected) server.inboxes.get(replyTo)?.(new Uint8Array(data))
    },
    close: () =>
      settle(() => {
        closed = true
        wakeAll()
      }),
  }
}

function serverControls(server: Server) {
  return {
    failNextAppendAck(): void {
      server.appendFault = 'loseAck'
    },
    loseNextAppend(): void {
      server.appendFault = 'lose'
    },
    holdAppendAcks(): () => void {
      let release = (): void => undefined
      server.acksHeld = new Promise((resolve) => (release = resolve))
      return release
    },
  }
}

function claimCalls(server: Server, isReachable: () => boolean) {
  return {
    declareClaims: (spec: ClaimsSpec) =>
      settle(() => {
        if (!isReachable()) throw new BusUnavailable('not connected')
        declareIn(server.claims, spec)
      }),
    claimOnce: async (bucket: string, key: string) => {
      if (!isReachable()) throw new AppendUnknown(`${bucket}: not connected`)
      const isFirst = claimIn(server.claims, { bucket, key, nowMs: server.options.nowMs() })
      await server.acksHeld
      return isFirst
    },
  }
}

/** Runs the step now and returns its outcome as a promise, as a call over a network does. */
async function settle<T>(step: () => T): Promise<T> {
  return Promise.resolve(step())
}

function streamOf(server: Server, name: string): MemoryStream {
  const stream = server.streams.get(name)
  if (stream === undefined) throw new StreamMissing(`no stream ${name}`)
  return stream
}

function declare(server: Server, spec: StreamSpec, isReachable: () => boolean): void {
  if (!isReachable()) throw new BusUnavailable('disconnected')
  const existing = server.streams.get(spec.stream)
  const subjects = [spec.subject].flat()
  const captured = [existing?.spec.subject ?? []].flat()
  if (captured.some((subject) => !subjects.includes(subject))) {
    throw new BusMisconfigured(`${spec.stream} captures ${captured.join(', ')}`)
  }
  if (existing !== undefined) {
    existing.spec = spec
    return
  }
  server.streams.set(spec.stream, createMemoryStream(spec, server.options.nowMs))
  for (const start of server.awaitingStreams.splice(0)) start()
}

/** As NATS matches subjects: `*` stands for one token, `>` at the end for one or more further ones. */
const captures = (spec: StreamSpec, subject: string): boolean =>
  [spec.subject].flat().some((pattern) => fits(subject.split('.'), pattern.split('.')))

const fits = (tokens: readonly string[], pattern: readonly string[]): boolean =>
  (pattern.at(-1) === '>' ? tokens.length >= pattern.length : tokens.length === pattern.length) &&
  pattern.every((part, at) => part === '>' || part === '*' || part === tokens[at])

async function append(
  server: Server,
  subject: string,
  data: Uint8Array,
  options: AppendOptions,
): Promise<number> {
  const fault = server.appendFault
  server.appendFault = 'none'
  if (fault === 'lose') throw new AppendUnknown(`${subject}: no acknowledgement`)
  const stream = [...server.streams.values()].find(({ spec }) => captures(spec, subject))
  if (stream === undefined) throw new AppendUnknown(`${subject}: no stream listens`)
  const seq = stream.store(subject, data, options)
  if (fault === 'loseAck') throw new AppendUnknown(`${subject}: no acknowledgement`)
  await server.acksHeld
  return seq
}

function startFollowing(
  server: Server,
  options: FollowOptions,
  flow: { readonly isOver: () => boolean; readonly isPaused: () => boolean },
): Subscription {
  let stopped = false
  const isOver = (): boolean => stopped || flow.isOver()
  const start = (): void => {
    const stream = server.streams.get(options.stream)
    if (stream === undefined) server.awaitingStreams.push(start)
    else void deliver(stream, options, { isOver, isPaused: flow.isPaused })
  }
  start()
  return {
    stop: () =>
      settle(() => {
        stopped = true
        server.streams.get(options.stream)?.wake()
      }),
  }
}

function listen(server: Server, subject: string, answerer: Answerer): Subscription {
  const others = server.answerers.get(subject) ?? []
  server.answerers.set(subject, [...others, answerer])
  return {
    stop: () =>
      settle(() => {
        const remaining = server.answerers.get(subject) ?? []
        server.answerers.set(
          subject,
          remaining.filter((each) => each !== answerer),
        )
      }),
  }
}

function ask(
  server: Server,
  subject: string,
  data: Uint8Array,
  timeoutMs: number,
): Promise<Uint8Array> {
  server.questions += 1
  const replyTo = `inbox-${server.questions}`
  const listening = (server.answerers.get(subject) ?? []).filter((each) => each.isReachable())
  const queues = new Map<string, Answerer[]>()
  for (const each of listening) queues.set(each.queue, [...(queues.get(each.queue) ?? []), each])
  if (queues.size === 0) return Promise.reject(new NoAnswer(`${subject}: no process answers`))
  return new Promise((resolve, reject) => {
    const cancelTimer = server.options.setTimer(timeoutMs, () => {
      server.inboxes.delete(replyTo)
      reject(new NoAnswer(`${subject}: no answer within ${timeoutMs} ms`))
    })
    server.inboxes.set(replyTo, (answer) => {
      server.inboxes.delete(replyTo)
      cancelTimer()
      resolve(answer)
    })
    for (const members of queues.values()) {
      const chosen = members[server.questions % members.length]
      if (chosen !== undefined) queueMicrotask(() => chosen.onAsk(new Uint8Array(data), replyTo))
    }
  })
}
