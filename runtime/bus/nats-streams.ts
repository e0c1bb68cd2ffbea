import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  nanos,
  NatsError,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
  type ConsumerConfig,
  type JetStreamManager,
  type NatsConnection,
  type StreamConfig,
  type StreamInfo,
} from 'nats'
import { claimsStream, claimsSubject, transfersStream } from '../../bus-schemas/subjects.js'
import {
  BusMisconfigured,
  BusUnavailable,
  NotPermitted,
  StreamMissing,
  type BusMessage,
  type ClaimsSpec,
  type StreamSpec,
  type StreamState,
} from './bus.js'

/** Largest message of a stream, with headers. */
export const MAX_STORED_BYTES = 1_048_576
const DUPLICATE_WINDOW_MS = 120_000
/** Largest size of a bucket of claims; a claim takes about 150 bytes. */
const MAX_CLAIMS_BYTES = 256 * 1024 * 1024
/** How long the server keeps an idle reader. */
const READER_IDLE_MS = 30_000

const ERR_STREAM_NOT_FOUND = 10059
const ERR_STREAM_NAME_IN_USE = 10058
const ERR_NO_MESSAGE = 10037

/** The JetStream requests of the bus; each throws StreamMissing or BusUnavailable. */
export interface NatsStreams {
  /** Also throws BusMisconfigured, naming what differs, and BusUnavailable while the stream cannot be used. */
  declare(spec: StreamSpec, replicas: number): Promise<void>
  /** The same for a bucket of claims. */
  declareClaims(spec: ClaimsSpec, replicas: number): Promise<void>
  /** Throws BusUnavailable as well when the stream's leader has lost most of the servers that store it. */
  state(stream: string): Promise<StreamState>
  /**
   * Whether the cluster answers about the first stream that this process declared or asked about. One that only asks
   * processes, as a gateway, has none; the cluster answers also about a stream that is not there.
   */
  answers(): Promise<boolean>
  /** The version recorded with the stream, 0 for none. */
  version(stream: string): Promise<number>
  /** Records a greater one. */
  raiseVersion(stream: string, version: number): Promise<void>
  last(stream: string): Promise<BusMessage | undefined>
  /** Deletes everything below the sequence. */
  trim(stream: string, belowSeq: number): Promise<void>
  /** Creates a reader from a sequence on, without acknowledgements, removed when idle; returns its name. */
  createReader(stream: string, fromSeq: number): Promise<string>
  /** Best effort: the server removes an idle reader by itself. */
  deleteReader(stream: string, reader: string): void
}

/** Whether this client may create or change a stream; one that may not leaves the server unasked. */
interface StreamRights {
  readonly create: (stream: string) => boolean
  readonly change: (stream: string) => boolean
}

export async function createNatsStreams(
  connection: NatsConnection,
  timeoutMs: number,
  rights: StreamRights,
): Promise<NatsStreams> {
  const manager = await connection.jetstreamManager({ timeout: timeoutMs, checkAPI: false })
  let known: string | undefined
  const declared = async (config: ReturnType<typeof streamConfig>): Promise<void> => {
    await declare(manager, config, rights)
    known ??= config.name
  }
  const translated = <T>(stream: string, request: Promise<T>): Promise<T> => {
    known ??= stream
    return answered(stream, request)
  }
  return {
    declare: (spec, replicas) => declared(streamConfig(spec, replicas)),
    declareClaims: (spec, replicas) => declared(claimsConfig(spec, replicas)),
    answers: () =>
      inTouch(manager, known ?? transfersStream).then(
        () => true,
        (error: unknown) => error instanceof StreamMissing,
      ),
    state: async (stream) => {
      known ??= stream
      const { state } = await inTouch(manager, stream)
      // The server reports 0 as the first sequence of a new stream.
      return { firstSeq: Math.max(state.first_seq, 1), lastSeq: state.last_seq }
    },
    version: (stream) => versionOf(manager, stream),
    raiseVersion: (stream, version) => {
      if (rights.change(stream)) return raiseVersion(manager, stream, version)
      return Promise.reject(new NotPermitted(`stream ${stream}: another process changes it`))
    },
    last: (stream) => {
      known ??= stream
      return lastMessage(manager, stream)
    },
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
    subjects: [spec.subject].flat(),
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

/** A stream in the layout of the server's key-value tools: one message per key, removed by age. */
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

/** Looks before it creates: a process that may not create streams can use those that exist. */
async function declare(
  manager: JetStreamManager,
  wanted: ReturnType<typeof streamConfig>,
  rights: StreamRights,
) {
  const { name } = wanted
  const existing = await infoOf(manager, name)
  if (existing === undefined && !rights.create(name)) {
    throw new NotPermitted(`stream ${name}: another process creates it`)
  }
  const found = existing ?? (await create(manager, wanted))
  const { subjects } = wanted
  const isExtended =
    found.subjects.length < subjects.length &&
    found.subjects.every((each) => subjects.includes(each))
  if (isExtended) await answered(name, manager.streams.update(name, { subjects }))
  const differing = differences(wanted, isExtended ? { ...found, subjects } : found)
  if (differing.length > 0) {
    const cure = differing.every((each) => each.startsWith('num_replicas')) ? CHANGE_REPLICAS : ''
    throw new BusMisconfigured(`stream ${name} exists otherwise: ${differing.join(', ')}${cure}`)
  }
}

/** The configuration, once the stream can be used: a process that starts reads it next. */
async function infoOf(manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  try {
    return (await inTouch(manager, name)).config
  } catch (error) {
    if (error instanceof StreamMissing) return undefined
    throw error
  }
}

/** Resolves with the configuration of the stream, which another process may have created meanwhile. */
async function create(
  manager: JetStreamManager,
  wanted: ReturnType<typeof streamConfig>,
): Promise<StreamConfig> {
  try {
    // A copy, because the client writes defaults into its argument.
    await manager.streams.add({ ...wanted })
  } catch (error) {
    if (errorCode(error) !== ERR_STREAM_NAME_IN_USE) throw translate(wanted.name, error)
  }
  const found = await infoOf(manager, wanted.name)
  if (found === undefined) throw new BusUnavailable(`stream ${wanted.name} is not there yet`)
  return found
}

/** What the stream's leader says of it. Throws BusUnavailable also while the leader has lost the others, or there is none. */
async function inTouch(manager: JetStreamManager, stream: string): Promise<StreamInfo> {
  const info = await answered(stream, manager.streams.info(stream))
  assertInTouch(stream, info.cluster)
  return info
}

/** A leader hears of each other server every second; without most of them it acknowledges nothing, and may be replaced. */
const OUT_OF_TOUCH_NS = 5e9

/**
 * A leader that was cut off answers from what it knows for up to 20 seconds more, while another one may lead already. A server
 * that knows no leader answers from its own copy, which may be behind.
 */
function assertInTouch(stream: string, cluster: StreamInfo['cluster']): void {
  if (cluster !== undefined && (cluster.leader ?? '') === '') {
    throw new BusUnavailable(`stream ${stream} does not answer: it has no leader`)
  }
  const others = cluster?.replicas ?? []
  const heard = others.filter(({ active }) => active < OUT_OF_TOUCH_NS)
  if (2 * (heard.length + 1) > others.length + 1) return
  throw new BusUnavailable(
    `stream ${stream} does not answer: its leader has lost the other servers`,
  )
}

const CHANGE_REPLICAS =
  ': set NATS_REPLICAS to what it has, or change every stream by ./venue bus-replicas (docs/THREE-MACHINES.md)'

function differences(wanted: ReturnType<typeof streamConfig>, found: StreamConfig): string[] {
  const reliedOn = Object.keys(wanted).filter((key) => key !== 'description')
  return reliedOn.flatMap((key) => {
    const want = JSON.stringify(wanted[key as keyof typeof wanted])
    // The server omits options that are off.
    const have = JSON.stringify(found[key as keyof StreamConfig] ?? false)
    return want === have ? [] : [`${key} is ${have}, not ${want}`]
  })
}

/** Key of a stream's metadata: the greatest version of the venue's messages that was written into it. */
const VERSION_KEY = 'venue_version'

async function versionOf(manager: JetStreamManager, stream: string): Promise<number> {
  const { config } = await answered(stream, manager.streams.info(stream))
  return Number(config.metadata?.[VERSION_KEY] ?? 0)
}

async function raiseVersion(
  manager: JetStreamManager,
  stream: string,
  version: number,
): Promise<void> {
  // Read again after the update: a writer of an older build may have written its own version over it meanwhile.
  while ((await versionOf(manager, stream)) < version) {
    const { config } = await answered(stream, manager.streams.info(stream))
    const metadata = { ...config.metadata, [VERSION_KEY]: `${version}` }
    await answered(stream, manager.streams.update(stream, { metadata }))
  }
}

async function lastMessage(
  manager: JetStreamManager,
  stream: string,
): Promise<BusMessage | undefined> {
  try {
    // From the leader: a lagging replica would give a wrong answer about an append with unknown outcome.
    const message = await manager.streams.getMessage(stream, { last_by_subj: '>' })
    const { seq, subject, data, time } = message
    return { seq, subject, data, storedAtMs: time.getTime() }
  } catch (error) {
    if (errorCode(error) === ERR_NO_MESSAGE) return undefined
    throw translate(stream, error)
  }
}

async function answered<T>(stream: string, request: Promise<T>): Promise<T> {
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
  if (cause instanceof NatsError && cause.isPermissionError()) {
    return new NotPermitted(`stream ${stream}: ${detail}`, { cause })
  }
  return new BusUnavailable(`stream ${stream} does not answer: ${detail}`, { cause })
}

const errorCode = (error: unknown): number | undefined =>
  error instanceof NatsError ? error.api_error?.err_code : undefined
