import { decodeBlock, encodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { FORGOTTEN, isOfNoOrder, type Block, type Change } from '../../core/model/change.js'
import type { Market } from '../../core/model/market.js'
import { isLiving } from '../../core/model/order.js'
import {
  ArchiveDamaged,
  listSegment,
  openFeedArchive,
  SEGMENT_BYTES,
  writeSegment,
  type Segment,
} from '../../data/feed-archive.js'
import type { KeptOrders } from '../../data/history/kept-orders.js'
import { claimOf, tombstoneOf } from '../../data/recent-claims.js'
import { StreamMissing, type Bus, type BusMessage } from '../../runtime/bus/bus.js'

const READ_CHUNK = 256

export interface ArchiveSettings {
  readonly dir: string
  /** Messages that the bus has stored for less than this stay in the stream alone. */
  readonly keepMs: number
  /** So many of the newest changes stay in the stream alone. */
  readonly keepChanges: number
  /** A segment is written once there are so many messages for it. */
  readonly leastMessages: number
  /** Most messages of a segment. */
  readonly segmentMessages: number
  /** A segment is looked at for orders to forget no more often than this. */
  readonly reviewEveryMs: number
}

export interface ArchiveOptions {
  readonly bus: Pick<Bus, 'read' | 'streamState'>
  readonly history: KeptOrders
  readonly market: Market
  readonly settings: ArchiveSettings
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/**
 * Writes what is old enough of a market's feed into its archive, as far as the history has it; resolves with the number of
 * messages. Throws ArchiveDamaged when the stream is trimmed beyond the archive.
 */
export async function archiveFeed(options: ArchiveOptions): Promise<number> {
  const { bus, settings, history, market } = options
  const stream = feedStream(market.market)
  const segments = await openFeedArchive(settings.dir).segments(stream)
  const from = (segments.at(-1)?.last_seq ?? 0) + 1
  const state = await stateOf(bus, stream)
  if (state === undefined) return 0
  if (state.firstSeq > from)
    throw new ArchiveDamaged(
      `${stream} begins at ${state.firstSeq}, its archive ends before ${from}`,
    )
  const { streamSeq, feedSeq } = history.position(market.market)
  const end = { seq: Math.min(streamSeq, state.lastSeq), change: feedSeq - settings.keepChanges }
  let written = 0
  for (;;) {
    const messages = await readSegment(options, from + written, end)
    if (messages.length < settings.leastMessages || messages.length === 0) return written
    await writeSegment(settings.dir, stream, {
      messages,
      ...factsOf(history, messages),
      reviewed_at_ms: 0,
    })
    written += messages.length
  }
}

async function stateOf(bus: Pick<Bus, 'streamState'>, stream: string) {
  try {
    return await bus.streamState(stream)
  } catch (error) {
    if (error instanceof StreamMissing) return undefined
    throw error
  }
}

/** The messages of the next segment: those that are old enough. */
async function readSegment(
  { bus, settings, market, nowMs }: ArchiveOptions,
  from: number,
  end: { readonly seq: number; readonly change: number },
): Promise<BusMessage[]> {
  const beforeMs = nowMs() - settings.keepMs
  const messages: BusMessage[] = []
  let bytes = 0
  while (messages.length < settings.segmentMessages) {
    const next = from + messages.length
    const limit = Math.min(
      READ_CHUNK,
      settings.segmentMessages - messages.length,
      end.seq - next + 1,
    )
    if (limit <= 0) return messages
    for (const message of await bus.read(feedStream(market.market), next, limit)) {
      bytes += message.data.length
      const isOld = message.storedAtMs <= beforeMs && lastChangeOf(message) <= end.change
      const isFull = messages.length > 0 && bytes > SEGMENT_BYTES
      if (!isOld || isFull) return messages
      messages.push(message)
    }
  }
  return messages
}

const lastChangeOf = ({ data }: BusMessage): number => {
  const { firstSeq, changes } = decodeBlock(data)
  return firstSeq + changes.length - 1
}

/**
 * What the manifest says of these messages, all of them projected. An order that the history removed before its messages were
 * archived waits like one that it has yet to remove. `matchedBefore`
 * were matched in any segment, and stay.
 */
function factsOf(
  history: KeptOrders,
  messages: readonly BusMessage[],
  before: readonly string[] = [],
  matchedBefore: ReadonlySet<string> = new Set(before),
): Pick<Segment, 'last_change' | 'waiting' | 'matched'> {
  const waiting = new Set<string>()
  const matched = new Set(before)
  const note = (orderId: string): void => {
    if (!matchedBefore.has(orderId) && history.standing(orderId) !== 'filled') waiting.add(orderId)
  }
  let lastChange = 0
  for (const { data } of messages) {
    const { firstSeq, changes } = decodeBlock(data)
    lastChange = firstSeq + changes.length - 1
    for (const change of changes) {
      if (!isOfNoOrder(change)) note(change.orderId)
      if (change.kind !== 'OrderMatched') continue
      for (const orderId of [change.match.makerOrderId, change.match.takerOrderId])
        if (history.standing(orderId) !== 'filled') matched.add(orderId)
    }
  }
  for (const orderId of matched) waiting.delete(orderId)
  return { last_change: lastChange, waiting: waiting.size, matched: [...matched] }
}

/**
 * Removes from the archive of a market the orders that the history has removed: those that ended without a fill more than 30
 * days ago. An order that was ever matched stays, because the other order's changes do not add up without it, and so does one
 * whose end is in the stream alone, or whose placement is in a segment where nothing waits, for the same reason. Resolves with the number of segments that were written anew; 0 while
 * the history still has orders to remove.
 */
export async function forgetOrders(options: ArchiveOptions): Promise<number> {
  const { settings, history, market, nowMs } = options
  const stream = feedStream(market.market)
  const archive = openFeedArchive(settings.dir)
  const segments = await archive.segments(stream)
  const waiting = segments.filter((segment) => segment.waiting > 0)
  // All or none: an order may have a change in each.
  if (waiting.every((each) => nowMs() - each.reviewed_at_ms < settings.reviewEveryMs)) return 0
  const load = (segment: Segment) => archive.load(stream, segment)
  const matched = new Set(segments.flatMap((segment) => segment.matched))
  const isKept = (orderId: string): boolean =>
    matched.has(orderId) || history.standing(orderId) !== 'forgotten'
  const forgotten = await wholeIn(waiting, load, (orderId) => !isKept(orderId))
  const isForgotten = (orderId: string): boolean => forgotten.has(orderId)
  let rewritten = 0
  for (const segment of waiting) {
    const messages = await load(segment)
    // Read at one position of the history; a rebuild from the archive arrives at the same rows only if nothing is overdue there.
    if (history.isBehind(market.market, nowMs())) return rewritten
    const kept = messages.map((message) => forgetIn(market, message, isForgotten))
    const facts = { ...factsOf(history, kept, segment.matched, matched), reviewed_at_ms: nowMs() }
    const isSame = kept.every((message, index) => message === messages[index])
    if (isSame) await listSegment(settings.dir, stream, { ...segment, ...facts })
    else await writeSegment(settings.dir, stream, { messages: kept, ...facts })
    if (!isSame) rewritten += 1
  }
  return rewritten
}

/** The orders of these that are placed and end in the segments. */
async function wholeIn(
  segments: readonly Segment[],
  load: (segment: Segment) => Promise<readonly BusMessage[]>,
  isOne: (orderId: string) => boolean,
): Promise<ReadonlySet<string>> {
  const placed = new Set<string>()
  const whole = new Set<string>()
  for (const segment of segments)
    for (const { data } of await load(segment))
      for (const { kind, orderId, status } of decodeBlock(data).changes) {
        if (isOfNoOrder({ kind }) || !isOne(orderId)) continue
        if (kind === 'OrderPlaced') placed.add(orderId)
        if (!isLiving(status) && placed.has(orderId)) whole.add(orderId)
      }
  return whole
}

/** The message itself when nothing in it is forgotten. */
function forgetIn(
  market: Market,
  message: BusMessage,
  isForgotten: (orderId: string) => boolean,
): BusMessage {
  const block = decodeBlock(message.data)
  const isGone = ({ kind, orderId }: Change): boolean =>
    !isOfNoOrder({ kind }) && isForgotten(orderId)
  if (!block.changes.some(isGone)) return message
  const changes = block.changes.map((change): Change => {
    if (!isGone(change)) return change
    const { seq, atMs } = change
    if (change.kind !== 'OrderPlaced') return { ...FORGOTTEN, seq, atMs }
    return { ...FORGOTTEN, seq, atMs, tombstone: tombstoneOf(claimOf(market, change.order)) }
  })
  const kept: Block = { ...block, changes }
  return { ...message, data: encodeBlock(kept) }
}
