import { setTimeout as delay } from 'node:timers/promises'
import { headers, type Msg, type NatsConnection, type PublishOptions } from 'nats'
import { z } from 'zod'
import { AppendRefused, AppendUnknown, WrongLastSequence, type AppendOptions } from './bus.js'

/** Most appends in flight; the next one is refused. */
export const MAX_APPENDS_IN_FLIGHT = 1_024
const RETRY_EVERY_MS = 50
const STATUS_NO_RESPONDERS = 503
const ERR_WRONG_LAST_SEQUENCE = [10071, 10164]

const ackSchema = z.object({
  seq: z.number().optional(),
  error: z.object({ err_code: z.number().optional(), description: z.string() }).optional(),
})

/** Appends with one inbox for all acknowledgements: a subscription per append would cost more than the append. */
export interface Appender {
  append(subject: string, data: Uint8Array, options?: NatsAppendOptions): Promise<number>
  /** The server does not let this user publish there: rejects the appends in flight to that subject with AppendRefused. */
  refused(subject: string): void
  /** Rejects every append in flight with AppendUnknown. */
  close(): void
}

export interface NatsAppendOptions extends AppendOptions {
  /** Fence: WrongLastSequence if the stream holds a message of this subject. */
  readonly firstOfSubject?: boolean
}

interface AppendDeps {
  readonly connection: NatsConnection
  readonly newInbox: () => string
  readonly isConnected: () => boolean
  readonly timeoutMs: number
}

type Reply =
  | { readonly kind: 'message'; readonly message: Msg }
  | { readonly kind: 'silence' }
  | { readonly kind: 'refused' }

interface AppendWaiter {
  readonly subject: string
  readonly settle: (reply: Reply) => void
}

export function createAppender({
  connection,
  newInbox,
  isConnected,
  timeoutMs,
}: AppendDeps): Appender {
  const exchanges = createExchanges({ connection, newInbox })
  let inFlight = 0

  async function append(
    subject: string,
    data: Uint8Array,
    options: NatsAppendOptions = {},
  ): Promise<number> {
    if (inFlight >= MAX_APPENDS_IN_FLIGHT) {
      throw new AppendRefused(`${subject}: ${inFlight} appends await their acknowledgement`)
    }
    inFlight += 1
    try {
      const request: AppendRequest = {
        options: publishOptions(options),
        deadline: performance.now() + timeoutMs,
      }
      for (;;) {
        // Send nothing while disconnected: the client would buffer the message and deliver it later.
        const reply = isConnected() ? await exchanges.exchange(subject, data, request) : undefined
        if (reply?.kind === 'silence') break
        if (reply?.kind === 'refused') {
          throw new AppendRefused(`${subject}: this user may not append there`)
        }
        if (reply !== undefined && !isNoResponders(reply.message)) {
          return sequenceOf(subject, reply.message)
        }
        if (performance.now() + RETRY_EVERY_MS >= request.deadline) break
        await delay(RETRY_EVERY_MS)
      }
      throw new AppendUnknown(`${subject}: no acknowledgement within ${timeoutMs} ms`)
    } finally {
      inFlight -= 1
    }
  }

  return {
    append,
    refused: (subject) => exchanges.refused(subject),
    close: () => exchanges.close(),
  }
}

/** Messages whose replies arrive in one inbox. */
interface Exchanges extends Pick<Appender, 'refused' | 'close'> {
  /** Publishes at once and resolves with the reply, or with silence at the deadline. */
  exchange(subject: string, data: Uint8Array, request: AppendRequest): Promise<Reply>
}

function createExchanges({
  connection,
  newInbox,
}: Pick<AppendDeps, 'connection' | 'newInbox'>): Exchanges {
  const inbox = newInbox()
  const waiting = new Map<string, AppendWaiter>()
  let sent = 0
  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (_error, message) => {
      const token = message.subject.slice(inbox.length + 1)
      waiting.get(token)?.settle({ kind: 'message', message })
    },
  })

  function exchange(subject: string, data: Uint8Array, request: AppendRequest): Promise<Reply> {
    sent += 1
    const token = sent.toString(36)
    publish(connection, subject, data, { ...request.options, reply: `${inbox}.${token}` })
    return new Promise((resolve) => {
      const settle = (reply: Reply): void => {
        clearTimeout(timer)
        waiting.delete(token)
        resolve(reply)
      }
      const left = request.deadline - performance.now()
      const timer = setTimeout(() => settle({ kind: 'silence' }), left)
      waiting.set(token, { subject, settle })
    })
  }

  return {
    exchange,
    refused(subject) {
      for (const each of [...waiting.values()])
        if (each.subject === subject) each.settle({ kind: 'refused' })
    },
    close() {
      subscription.unsubscribe()
      for (const { settle } of [...waiting.values()]) settle({ kind: 'silence' })
    },
  }
}

interface AppendRequest {
  readonly options: PublishOptions
  /** On the monotonic clock. */
  readonly deadline: number
}

function publishOptions(options: NatsAppendOptions): PublishOptions {
  const { expectedLastSeq, messageId, firstOfSubject = false } = options
  if (expectedLastSeq === undefined && messageId === undefined && !firstOfSubject) return {}
  const result = headers()
  if (firstOfSubject) result.set('Nats-Expected-Last-Subject-Sequence', '0')
  if (expectedLastSeq !== undefined) {
    result.set('Nats-Expected-Last-Sequence', String(expectedLastSeq))
  }
  if (messageId !== undefined) result.set('Nats-Msg-Id', messageId)
  return { headers: result }
}

function publish(
  connection: NatsConnection,
  subject: string,
  data: Uint8Array,
  options: PublishOptions,
): void {
  try {
    connection.publish(subject, data, options)
  } catch (cause) {
    throw new AppendRefused(`${subject}: not sent, ${String(cause)}`, { cause })
  }
}

/** No stream captures the subject, so the message is not stored. Happens while a server starts. */
const isNoResponders = (message: Msg): boolean => message.headers?.code === STATUS_NO_RESPONDERS

function sequenceOf(subject: string, message: Msg): number {
  const { seq, error } = ackSchema.parse(message.json())
  if (error === undefined && seq !== undefined) return seq
  const description = `${subject}: ${error?.description ?? 'acknowledged without a sequence'}`
  if (ERR_WRONG_LAST_SEQUENCE.includes(error?.err_code ?? 0)) {
    throw new WrongLastSequence(description)
  }
  throw new AppendRefused(description)
}
