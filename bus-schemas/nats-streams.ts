import {
  type ConsumerConfig,
  type JetStreamManager,
  type NatsConnection,
  type StreamConfig,
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  NatsError,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
  nanos,
} from 'nats'
import {
  type BusMessage,
  type ClaimsSpec,
  type StreamSpec,
  type StreamState,
  BusMisconfigured,
  BusUnavailable,
  StreamMissing,
} from './bus.js'
import { claimsStream, claimsSubject } from './subjects.js'

/** Largest message a stream takes, headers included. */
export const MAX_STORED_BYTES = 1_048_576
const DUPLICATE_WINDOW_MS = 120_000
/** What one bucket of claims may come to; a claim takes about 150 bytes. */
const MAX_CLAIMS_BYTES = 256 * 1024 * 1024
/** How long the server keeps a reader that stopped asking. */
const READER_IDLE_MS = 30_000

const ERR_STREAM_NOT_FOUND = 10059
const ERR_STREAM_NAME_IN_USE = 10058
const ERR_NO_MESSAGE = 10037

/** The few requests to a server's JetStream that the bus makes; each throws StreamMissing or BusUnavailable. */
export interface NatsStreams {
  /** Also throws BusMisconfigured, naming what differs. */
  declare(spec: StreamSpec, replicas: number): Promise<void>
  /** The same for a bucket of claims. */
  declareClaims(spec: ClaimsSpec, replicas: number): Promise<void>
  state(stream: string): Promise<StreamState>
  last(stream: string): Promise<BusMessage | undefined>
  /** Deletes everything below the sequence. */
  trim(stream: string, belowSeq: number): Promise<void>
  /** Makes a reader that starts at a sequence, acknowledges nothing and is forgotten when idle; returns its name. */
  createReader(stream: string, fromSeq: number): Promise<string>
  /** Best effort: an idle reader vanishes by itself. */
  deleteReader(stream: string, reader: string): void
}

export async function createNatsStreams(
  connection: NatsConnection,
  timeoutMs: number,
): Promise<NatsStreams> {
  const manager = await connection.jetstreamManager({ timeout: timeoutMs, checkAPI: false })
  return {
    declare: (spec, replicas) => declare(manager, streamConfig(spec, replicas)),
    declareClaims: (spec, replicas) => declare(manager, claimsConfig(spec, replicas)),
    state: async (stream) => {
      const { state } = await translated(stream, manager.streams.info(stream))
      // A stream that never held anything counts from 0.
      return { firstSeq: Math.max(state.first_seq, 1), lastSeq: state.last_seq }
    },
    last: (stream) => lastMessage(manager, stream),
    trim: async (stream, belowSeq) => {
      await translated(stream, manager.streams.purge(stream, { seq: belowSeq }))
    },
    createReader: async (stream, fromSeq) => {
      const { name } = await translated(stream, manager.consumers.add(stream, readerFrom(fromSeq)))
      return name
    },
    deleteReader: (stream, reader) => {
      if (connection.isClosed()) return
      manager.consumers.delete(stream, reader).catch(() => undefined)
    },
  }
}

function streamConfig(spec: StreamSpec, replicas: number) {
  return {
    name: spec.stream,
    subjects: [spec.subject],
    description: spec.description,
    storage: StorageType.File,
    num_replicas: replicas,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: 0,
    max_msgs: -1,
    max_bytes: -1,
    max_msg_size: MAX_STORED_BYTES,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    deny_delete: true,
    deny_purge: false,
    allow_direct: true,
    allow_rollup_hdrs: false,
  } satisfies Partial<StreamConfig>
}

/** A stream that the server's key-value tools understand: one message per key, forgotten by age. */
function claimsConfig({ bucket, keepMs, description }: ClaimsSpec, replicas: number) {
  const stream = claimsStream(bucket)
  return {
    ...streamConfig({ stream, subject: claimsSubject(bucket), description }, replicas),
    max_age: nanos(keepMs),
    duplicate_window: nanos(Math.min(keepMs, DUPLICATE_WINDOW_MS)),
    max_bytes: MAX_CLAIMS_BYTES,
    max_msgs_per_subject: 1,
  }
}

function readerFrom(fromSeq: number): Partial<ConsumerConfig> {
  return {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: fromSeq,
    replay_policy: ReplayPolicy.Instant,
    inactive_threshold: nanos(READER_IDLE_MS),
    mem_storage: true,
    num_replicas: 1,
  }
}

async function declare(manager: JetStreamManager, wanted: ReturnType<typeof streamConfig>) {
  try {
    // A copy, because the client writes defaults into what it is given.
    await manager.streams.add({ ...wanted })
  } catch (error) {
    if (errorCode(error) !== ERR_STREAM_NAME_IN_USE) throw translate(wanted.name, error)
    const { config } = await translated(wanted.name, manager.streams.info(wanted.name))
    const differing = differences(wanted, config)
    if (differing.length > 0) {
      throw new BusMisconfigured(`stream ${wanted.name} exists otherwise: ${differing.join(', ')}`)
    }
  }
}

function differences(wanted: ReturnType<typeof streamConfig>, found: StreamConfig): string[] {
  const reliedOn = Object.keys(wanted).filter((key) => key !== 'description')
  return reliedOn.flatMap((key) => {
    const want = JSON.stringify(wanted[key as keyof typeof wanted])
    // The server leaves out what is off.
    const have = JSON.stringify(found[key as keyof StreamConfig] ?? false)
    return want === have ? [] : [`${key} is ${have}, not ${want}`]
  })
}

async function lastMessage(
  manager: JetStreamManager,
  stream: string,
): Promise<BusMessage | undefined> {
  try {
    // From the leader: a copy that lags would mislead whoever resolves an ambiguous append.
    const { seq, data, time } = await manager.streams.getMessage(stream, { last_by_subj: '>' })
    return { seq, data, storedAtMs: time.getTime() }
  } catch (error) {
    if (errorCode(error) === ERR_NO_MESSAGE) return undefined
    throw translate(stream, error)
  }
}

async function translated<T>(stream: string, request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    throw translate(stream, error)
  }
}

function translate(stream: string, cause: unknown): Error {
  if (errorCode(cause) === ERR_STREAM_NOT_FOUND) {
    return new StreamMissing(`no stream ${stream}`, { cause })
  }
  const detail = cause instanceof Error ? cause.message : String(cause)
  return new BusUnavailable(`stream ${stream} cannot be asked: ${detail}`, { cause })
}

const errorCode = (error: unknown): number | undefined =>
  error instanceof NatsError ? error.api_error?.err_code : undefined
