import { BusUnavailable, MessagesGone, type BusMessage } from './bus.js'
import { openPuller, type PullerLink } from './nats-read.js'
import type { NatsStreams } from './nats-streams.js'

const PULL_BYTES = 8 * 1_048_576
const PULL_EXPIRES_MS = 2_000
/** A read without a new message for this long fails. */
const STALLED_AFTER_MS = 4_000

interface RangeDeps extends PullerLink {
  readonly streams: NatsStreams
}

/** Bus.read: up to `limit` messages from `fromSeq` that are stored at the time of the call. */
export async function readRange(
  { streams, ...link }: RangeDeps,
  stream: string,
  fromSeq: number,
  limit: number,
): Promise<BusMessage[]> {
  const { firstSeq, lastSeq } = await streams.state(stream)
  if (fromSeq < firstSeq) {
    throw new MessagesGone(`${stream} begins at ${firstSeq}, wanted ${fromSeq}`)
  }
  const count = Math.min(limit, lastSeq - fromSeq + 1)
  if (count <= 0) return []
  const name = await streams.createReader(stream, fromSeq)
  try {
    return await collect(link, { stream, name }, { fromSeq, count })
  } finally {
    streams.deleteReader(stream, name)
  }
}

function collect(
  link: PullerLink,
  reader: { readonly stream: string; readonly name: string },
  wanted: { readonly fromSeq: number; readonly count: number },
): Promise<BusMessage[]> {
  const { fromSeq, count } = wanted
  const messages: BusMessage[] = []
  return new Promise((resolve, reject) => {
    const finish = (error?: Error): void => {
      clearTimeout(timer)
      puller.close()
      if (error === undefined) resolve(messages)
      else reject(error)
    }
    const timer = setTimeout(
      () => finish(new BusUnavailable(`reading ${reader.stream} stalled`)),
      STALLED_AFTER_MS,
    )
    const pullRest = (): void =>
      puller.pull({
        messages: count - messages.length,
        bytes: PULL_BYTES,
        expiresMs: PULL_EXPIRES_MS,
      })
    const puller = openPuller(link, reader, {
      onMessage: (message) => {
        const expected = fromSeq + messages.length
        if (messages.length === count) return
        if (message.seq !== expected) {
          finish(new MessagesGone(`${reader.stream} holds ${message.seq} where ${expected} was`))
          return
        }
        timer.refresh()
        messages.push(message)
        if (messages.length === count) finish()
      },
      onDone: () => {
        if (messages.length < count) pullRest()
      },
      onBroken: (reason) => finish(new BusUnavailable(`reading ${reader.stream}: ${reason}`)),
    })
    pullRest()
  })
}
