import { consumerOpts, type JetStreamClient, type JsMsg, type NatsConnection } from 'nats'
import { setTimeout as delay } from 'node:timers/promises'

/** Passes on each message that is stored from now on. */
export async function consume(
  stream: JetStreamClient,
  subject: string,
  onMessage: (message: JsMsg) => void,
): Promise<void> {
  const options = consumerOpts()
  options.orderedConsumer()
  options.deliverNew()
  options.callback((error, message) => {
    if (error !== null) throw error
    if (message !== null) onMessage(message)
  })
  await stream.subscribe(subject, options)
}

const SUBJECTS = ['HOPS.first', 'HOPS.second'] as const
/** Close to the size of a message with one order. */
const BYTES = 1_500
const GIVE_UP_AFTER_MS = 60_000

/** Sends so many messages at a constant rate; the time of each, ms from when it was due until it was read from the second log. */
export type BareHops = (count: number, perSecond: number) => Promise<readonly number[]>

/**
 * What an order's way is at the least: a message stored in one log, read from it, stored in another and read from that, by
 * the client's own means and one message at a time. Rejects when one does not arrive.
 */
export async function openBareHops(connection: NatsConnection): Promise<BareHops> {
  const manager = await connection.jetstreamManager()
  for (const subject of SUBJECTS) {
    await manager.streams.add({ name: subject.replace('.', '_'), subjects: [subject] })
  }
  const stream = connection.jetstream({ timeout: GIVE_UP_AFTER_MS })
  const [first, second] = SUBJECTS
  let dueAt: number[] = []
  let tookMs: number[] = []
  let failure: unknown
  const publish = (subject: string, data: Uint8Array): void => {
    stream.publish(subject, data).catch((error: unknown) => (failure ??= error))
  }
  await consume(stream, first, ({ data }) => publish(second, data))
  await consume(stream, second, () => {
    tookMs.push(performance.now() - (dueAt[tookMs.length] ?? NaN))
  })
  const payload = new Uint8Array(BYTES)
  return async (count, perSecond) => {
    tookMs = []
    const start = performance.now()
    dueAt = Array.from({ length: count }, (_, index) => start + (index * 1000) / perSecond)
    let sent = 0
    while (tookMs.length < count) {
      for (; (dueAt[sent] ?? Infinity) <= performance.now(); sent += 1) publish(first, payload)
      if (failure !== undefined) throw new Error('a message was not stored', { cause: failure })
      if (performance.now() - start > (count * 1000) / perSecond + GIVE_UP_AFTER_MS) {
        throw new Error(`${tookMs.length} of ${count} messages arrived`)
      }
      await delay(1)
    }
    return tookMs
  }
}
