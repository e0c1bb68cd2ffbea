import { nanos, type Msg, type NatsConnection } from 'nats'
import { assert } from '../../core/assert.js'
import type { BusMessage } from './bus.js'

const STATUS_HEARTBEAT = 100
const STATUS_NOTHING_YET = 404
const STATUS_EXPIRED = 408
const STATUS_CONFLICT = 409
const ACK_PREFIX = '$JS.ACK.'
const SHORT_ACK_TOKENS = 9
const SHORT_ACK_SEQ = 5
const NS_DIGITS_BELOW_MS = 6
/** Conflicts that mean only that a pull is complete; the second comes after the last message of a batch. */
const PULL_FULL = /exceeds maxbytes|batch completed/i

/** Limits of one pull, and how long the server keeps it open. */
export interface PullLimits {
  readonly messages: number
  readonly bytes: number
  readonly expiresMs: number
}

export interface PullHandlers {
  readonly onMessage: (message: BusMessage) => void
  /** The open pull is complete. */
  readonly onDone: () => void
  /** The reader failed; open another. */
  readonly onBroken: (reason: string) => void
}

/** Pulls messages from one reader of a stream, one pull at a time. */
export interface Puller {
  pull(limits: PullLimits): void
  close(): void
}

/** What a puller reads with. */
export interface PullerLink {
  readonly connection: NatsConnection
  /** A subject of its own for what it pulls. */
  readonly newInbox: () => string
}

export function openPuller(
  { connection, newInbox }: PullerLink,
  reader: { readonly stream: string; readonly name: string },
  handlers: PullHandlers,
): Puller {
  const inbox = newInbox()
  const requestSubject = `$JS.API.CONSUMER.MSG.NEXT.${reader.stream}.${reader.name}`
  let outstanding = 0
  let pulls = 0
  // Each pull has its own reply subject, because the status of one can arrive after the start of the next.
  const currentPull = (): string => `${inbox}.${pulls}`
  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (_error, message) => {
      // Do not read the headers of a delivery: parsing them costs more than the rest.
      if (isDelivery(message)) return take(message)
      const code = message.headers?.code ?? 0
      if (code === 0) take(message)
      else if (message.subject === currentPull())
        handleStatus(code, message.headers?.description ?? '')
    },
  })

  function take(message: Msg): void {
    outstanding -= 1
    handlers.onMessage(busMessageOf(message))
    if (outstanding === 0) handlers.onDone()
  }

  function handleStatus(code: number, description: string): void {
    if (code === STATUS_HEARTBEAT) return
    const isOver =
      code === STATUS_NOTHING_YET ||
      code === STATUS_EXPIRED ||
      (code === STATUS_CONFLICT && PULL_FULL.test(description))
    if (isOver) handlers.onDone()
    else handlers.onBroken(`${code} ${description}`)
  }

  return {
    pull({ messages, bytes, expiresMs }) {
      outstanding = messages
      pulls += 1
      const request = { batch: messages, max_bytes: bytes, expires: nanos(expiresMs) }
      connection.publish(requestSubject, JSON.stringify(request), { reply: currentPull() })
    },
    close: () => subscription.unsubscribe(),
  }
}

const isDelivery = ({ reply }: Msg): boolean => reply?.startsWith(ACK_PREFIX) === true

/**
 * Reads the sequence of a delivery from its reply subject, which has two forms:
 * `$JS.ACK.<stream>.<reader>.<deliveries>.<seq>.<delivered>.<stored at ns>.<pending>` and one with domain and account after
 * `ACK` and a random token at the end.
 */
function busMessageOf(message: Msg): BusMessage {
  const tokens = message.reply?.split('.') ?? []
  const seqAt = tokens.length === SHORT_ACK_TOKENS ? SHORT_ACK_SEQ : SHORT_ACK_SEQ + 2
  const seq = parseInt(tokens[seqAt] ?? '', 10)
  const storedAtNs = tokens[seqAt + 2] ?? ''
  assert(tokens[1] === 'ACK' && seq > 0, `not a delivery: ${message.reply}`)
  const storedAtMs = parseInt(storedAtNs.slice(0, -NS_DIGITS_BELOW_MS), 10)
  return { seq, subject: message.subject, data: message.data, storedAtMs }
}
