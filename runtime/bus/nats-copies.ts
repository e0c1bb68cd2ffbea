import { connect, createInbox, type Msg, type NatsConnection } from 'nats'
import type { BusUser } from '../../bus-schemas/permissions.js'
import { readAccess, type BusPlace } from './nats-access.js'
import { BusUnavailable } from './bus.js'

/** Bytes of one chunk of a copy; the server takes messages of 1 MB. */
const CHUNK_BYTES = 128 * 1024
/**
 * What a server sends ahead of the acknowledgements, at most as much as it allows. nats-server 2.15 gives a copy up, without a
 * word, when it still has to wait for one after five seconds.
 */
const WINDOW_BYTES = 32 * 1024 * 1024
const REQUEST_WITHIN_MS = 30_000
/** A server takes a copy into a stream once it has all of it: so slow a disk, in bytes a second, is waited for. */
const TAKEN_PER_SECOND = 1_000_000
/** A server that sends nothing for so long has given the copy up. */
const CHUNK_WITHIN_MS = 60_000
const CONNECT_WITHIN_MS = 15_000
const NOT_FOUND = 404

/** What the server states of a stream: opaque but for its positions. */
export interface StreamFacts {
  readonly config: Readonly<Record<string, unknown>>
  readonly state: Readonly<Record<string, unknown>> & {
    readonly messages: number
    readonly first_seq: number
    readonly last_seq: number
  }
}

export interface StreamCopy extends StreamFacts {
  /** The copy in the server's own format; read it to its end, and fast. Throws BusUnavailable when the server gives it up. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Whole streams, copied out of a server and into one. */
export interface StreamCopies {
  /** The names of all streams of the account. */
  names(): Promise<string[]>
  /**
   * A copy of a stream at one moment, with configuration, sequences, times and gaps. It holds every message up to
   * `state.last_seq`, and may hold some that were stored while it was made.
   */
  copy(stream: string): Promise<StreamCopy>
  /** Makes the stream from a copy; it must not exist. Resolves with what the server then holds. */
  restore(
    stream: string,
    facts: StreamFacts,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<StreamFacts>
  /** What the server states of a stream now. */
  facts(stream: string): Promise<StreamFacts>
  /** When the message was stored, as the server writes it; undefined when the stream does not hold it. */
  storedAt(stream: string, seq: number): Promise<string | undefined>
  close(): Promise<void>
}

export interface CopiesOptions extends BusPlace {
  readonly user?: BusUser
  /** Shown by the server's monitoring. */
  readonly name: string
}

/** Connects to the server of the URL. Throws BusUnavailable when it does not answer within five seconds. */
export async function openStreamCopies(options: CopiesOptions): Promise<StreamCopies> {
  const { url, name, user } = options
  const access = readAccess(options, user)
  const connection = await connect({ ...access, name, timeout: CONNECT_WITHIN_MS }).catch(
    (cause: unknown) => {
      throw new BusUnavailable(`the bus at ${url} does not answer`, { cause })
    },
  )
  return {
    names: () => namesOf(connection),
    copy: (stream) => copyStream(connection, createInbox(access.inboxPrefix), stream),
    restore: (stream, facts, chunks) => restoreStream(connection, stream, { facts, chunks }),
    facts: (stream) => ask(connection, `STREAM.INFO.${stream}`, {}),
    storedAt: (stream, seq) => readStoredAt(connection, stream, seq),
    close: () => connection.close(),
  }
}

async function readStoredAt(
  connection: NatsConnection,
  stream: string,
  seq: number,
): Promise<string | undefined> {
  const call = `STREAM.MSG.GET.${stream}`
  const { error, message } = await request<{ readonly message?: { readonly time: string } }>(
    connection,
    call,
    { seq },
  )
  if (error !== undefined && error.code !== NOT_FOUND) throw refusalOf(call, error)
  return message?.time
}

async function namesOf(connection: NatsConnection): Promise<string[]> {
  const names: string[] = []
  for (;;) {
    const asked = { offset: names.length }
    const { streams, total } = await ask<{ streams: string[] | null; total: number }>(
      connection,
      'STREAM.NAMES',
      asked,
    )
    names.push(...(streams ?? []))
    if (names.length >= total || (streams ?? []).length === 0) return names.toSorted()
  }
}

async function copyStream(
  connection: NatsConnection,
  inbox: string,
  stream: string,
): Promise<StreamCopy> {
  const received = connection.subscribe(inbox)
  try {
    const facts = await ask<StreamFacts>(connection, `STREAM.SNAPSHOT.${stream}`, {
      deliver_subject: inbox,
      no_consumers: true,
      chunk_size: CHUNK_BYTES,
      window_size: WINDOW_BYTES,
      jsck: false,
    })
    return { ...facts, chunks: chunksOf(stream, received) }
  } catch (error) {
    received.unsubscribe()
    throw error
  }
}

type CopySubscription = ReturnType<NatsConnection['subscribe']>

/** The end is an empty message; one with another status than 204 says why the server stops before it. */
async function* chunksOf(stream: string, received: CopySubscription): AsyncGenerator<Uint8Array> {
  const messages = received[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await withinTime(stream, messages.next())
      if (next.done === true) throw new BusUnavailable(`the copy of ${stream} broke off`)
      const message: Msg = next.value
      if (message.data.length === 0) {
        const { code = 0, description = '' } = message.headers ?? {}
        if (code !== 0 && code !== 204)
          throw new BusUnavailable(`the copy of ${stream} broke off: ${code} ${description}`)
        return
      }
      // The server sends on as its chunks are acknowledged, and does not wait long; what it sends ahead is bounded.
      message.respond()
      yield message.data
    }
  } finally {
    received.unsubscribe()
  }
}

async function withinTime<T>(stream: string, awaited: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new BusUnavailable(`the copy of ${stream} does not go on`)),
      CHUNK_WITHIN_MS,
    )
  })
  try {
    return await Promise.race([awaited, silence])
  } finally {
    clearTimeout(timer)
  }
}

async function restoreStream(
  connection: NatsConnection,
  stream: string,
  given: { readonly facts: StreamFacts; readonly chunks: AsyncIterable<Uint8Array> },
): Promise<StreamFacts> {
  const { config, state } = given.facts
  const { deliver_subject: subject } = await ask<{ deliver_subject: string }>(
    connection,
    `STREAM.RESTORE.${stream}`,
    { config, state },
  )
  const send = (data: Uint8Array, timeout = REQUEST_WITHIN_MS) =>
    connection.request(subject, data, { timeout }).catch((cause: unknown) => {
      throw new BusUnavailable(`the bus does not take the copy of ${stream}`, { cause })
    })
  let sent = 0
  for await (const chunk of given.chunks)
    for (let at = 0; at < chunk.length; at += CHUNK_BYTES) {
      const { data } = await send(chunk.subarray(at, at + CHUNK_BYTES))
      if (data.length > 0) readAnswer(stream, data)
      sent += Math.min(CHUNK_BYTES, chunk.length - at)
    }
  const stored = typeof state.bytes === 'number' ? state.bytes : 0
  const last = await send(new Uint8Array(), lastAnswerWithinMs(Math.max(sent, stored)))
  return readAnswer<StreamFacts>(stream, last.data)
}

/** How long the end of a copy waits for its answer: the server then makes the stream of so many bytes. */
export const lastAnswerWithinMs = (bytes: number): number =>
  REQUEST_WITHIN_MS + Math.ceil((bytes / TAKEN_PER_SECOND) * 1_000)

interface ServerError {
  readonly code?: number
  readonly description?: string
}

async function ask<Answer>(
  connection: NatsConnection,
  call: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const answer = await request<Answer>(connection, call, body)
  if (answer.error !== undefined) throw refusalOf(call, answer.error)
  return answer
}

async function request<Answer>(
  connection: NatsConnection,
  call: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer & { readonly error?: ServerError }> {
  const asked = connection.request(`$JS.API.${call}`, JSON.stringify(body), {
    timeout: REQUEST_WITHIN_MS,
  })
  const { data } = await asked.catch((cause: unknown) => {
    throw new BusUnavailable(`the bus does not answer ${call}`, { cause })
  })
  return parse(data)
}

function readAnswer<Answer>(what: string, data: Uint8Array): Answer {
  const answer = parse<Answer>(data)
  if (answer.error !== undefined) throw refusalOf(what, answer.error)
  return answer
}

const parse = <Answer>(data: Uint8Array) =>
  JSON.parse(Buffer.from(data).toString('utf8')) as Answer & { readonly error?: ServerError }

const refusalOf = (what: string, { description = 'no reason' }: ServerError): BusUnavailable =>
  new BusUnavailable(`the bus refuses ${what}: ${description}`)
