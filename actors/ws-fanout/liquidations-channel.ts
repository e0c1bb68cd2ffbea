import { decodeLiquidations } from '../../bus-schemas/liquidations.js'
import { liquidationsStream } from '../../bus-schemas/subjects.js'
import {
  holdLiquidations,
  type Liquidation,
  type LiquidationNews,
} from '../../core/contracts/liquidation.js'
import { liquidationRecord } from '../../core/records/liquidation-record.js'
import { isoTime } from '../../core/time.js'
import { MAX_SNAPSHOT_LIQUIDATIONS } from '../../interface/liquidation.js'
import type { LiquidationsUpdate } from '../../interface/liquidation-frames.js'
import { stateOrEmpty, type Bus, type BusMessage } from '../../runtime/bus/bus.js'
import { textFrame } from './server-frames.js'
import type { Subscriber } from './subscribers.js'
import type { TopicStream } from './topic-stream.js'

/** The newest messages of the stream that are read at start, and stay in memory for a client that resumes. */
export const KEPT_UPDATES = 1_000
/** The newest liquidations that stand: what is taken back is shown as it was. */
const HELD_MAX = 10_000

export interface LiquidationsChannelParts {
  readonly bus: Pick<Bus, 'follow' | 'streamState'>
  /** The stream cannot be followed. */
  readonly onFailure: (error: Error) => void
}

/**
 * The public channel `liquidations`, of all markets: one update for each message of the stream, under its number there, so that
 * every worker and every later process numbers alike.
 */
export interface LiquidationsChannel {
  topic(): TopicStream
  /** Whether everything told before this process started has been folded. */
  isCaughtUp(): boolean
  stop(): Promise<void>
}

/** Follows the stream, also while it does not exist yet. Throws BusUnavailable. */
export async function openLiquidationsChannel({
  bus,
  onFailure,
}: LiquidationsChannelParts): Promise<LiquidationsChannel> {
  const { firstSeq, lastSeq } = await stateOrEmpty(bus, liquidationsStream)
  const fromSeq = Math.max(firstSeq, lastSeq - KEPT_UPDATES + 1)
  const held = holdLiquidations(HELD_MAX)
  const subscribers = new Set<Subscriber>()
  const updates: { readonly seq: number; readonly frame: Buffer }[] = []
  let head = fromSeq - 1
  let data: Buffer | undefined

  function onMessage(message: BusMessage): void {
    const news = decodeLiquidations(message.data)
    const frame = updateOf(message, news, held.apply(news))
    head = message.seq
    data = undefined
    updates.push({ seq: head, frame })
    if (updates.length > KEPT_UPDATES) updates.shift()
    for (const subscriber of subscribers) subscriber.deliver(frame)
  }

  const stateNow = (): Buffer =>
    Buffer.from(JSON.stringify(held.newest(MAX_SNAPSHOT_LIQUIDATIONS).map(liquidationRecord)))
  const topic: TopicStream = {
    key: 'liquidations',
    channel: 'liquidations',
    market: undefined,
    headSeq: () => head,
    snapshot: () => ({ seq: head, data: [(data ??= stateNow())] }),
    recentAfter(afterSeq) {
      const oldest = updates[0]?.seq ?? head + 1
      if (afterSeq < oldest - 1 || afterSeq > head) return undefined
      const later = updates.filter(({ seq }) => seq > afterSeq)
      return { frames: later.map(({ frame }) => frame), upTo: head }
    },
    subscribe: (subscriber) => void subscribers.add(subscriber),
    unsubscribe: (subscriber) => void subscribers.delete(subscriber),
  }
  const following = await bus.follow({
    stream: liquidationsStream,
    fromSeq,
    onMessage,
    onError: onFailure,
  })
  return { topic: () => topic, isCaughtUp: () => head >= lastSeq, stop: () => following.stop() }
}

function updateOf(
  { seq, storedAtMs }: BusMessage,
  { added }: LiquidationNews,
  gone: readonly Liquidation[],
): Buffer {
  const update: LiquidationsUpdate = {
    type: 'update',
    channel: 'liquidations',
    seq,
    prev_seq: seq - 1,
    ts: isoTime(storedAtMs),
    data: [
      ...gone.map((one) => ({ ...liquidationRecord(one), reversed: true as const })),
      ...added.map(liquidationRecord),
    ],
  }
  return textFrame(JSON.stringify(update))
}
