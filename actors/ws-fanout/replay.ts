import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { MessagesGone, type Bus, type BusMessage } from '../../runtime/bus/bus.js'
import type { Page, MarketFeed } from './market-feed.js'
import { MAX_STREAM_READS, STREAM_PAGE_BLOCKS } from './limits.js'
import { topicFrame, tradeSeqAfter, type Topic } from './server-frames.js'

/** The receiver of a replay. */
export interface ReplayTarget {
  /** Whether the subscription that requested the replay is still current. */
  isCurrent(): boolean
  /** Writes frames; resolves with true when the client has taken them, with false when it cannot. */
  write(frames: readonly Buffer[]): Promise<boolean>
}

/** `live`: everything was sent and `goLive` was called. `too_old`: the stream no longer holds the changes. */
export type ReplayOutcome = 'live' | 'too_old' | 'abandoned'

export interface Replayer {
  /**
   * Sends every frame of a topic after `sinceSeq` at the client's pace: first from the stream, then from memory. Calls
   * `goLive` in the same turn in which nothing is left to send.
   */
  replay(request: ReplayRequest): Promise<ReplayOutcome>
}

export interface ReplayRequest {
  readonly feed: MarketFeed
  readonly topic: Topic
  readonly sinceSeq: number
  readonly target: ReplayTarget
  readonly goLive: () => void
}

/** Replays for one process; at most MAX_STREAM_READS of them read from the bus at a time. */
export function createReplayer(bus: Bus): Replayer {
  const gate = createGate(MAX_STREAM_READS)

  async function replay(request: ReplayRequest): Promise<ReplayOutcome> {
    const { feed, topic, target, goLive } = request
    for (let at = request.sinceSeq; ;) {
      if (!target.isCurrent()) return 'abandoned'
      if (at === feed.headSeq()) {
        goLive()
        return 'live'
      }
      const page = feed.recentAfter(topic, at)
      if (page === undefined) {
        const reached = await replayFromStream(request, at)
        if (typeof reached === 'string') return reached
        at = reached
        continue
      }
      at = page.upTo
      const taken = writePage(target, page)
      // At the head, go live without awaiting: a change could come in between.
      if (at !== feed.headSeq() && !(await taken)) return 'abandoned'
    }
  }

  /** Sends until the ring holds the rest or the head is reached; resolves with the sequence reached. */
  async function replayFromStream(
    { feed, topic, target }: ReplayRequest,
    afterSeq: number,
  ): Promise<number | ReplayOutcome> {
    const pages = readStreamPages({ bus, feed, topic, afterSeq, gate })
    for (let at = afterSeq; ;) {
      if (!target.isCurrent()) return 'abandoned'
      if (feed.recentAfter(topic, at) !== undefined) return at
      const { done, value } = await pages.next()
      // The client may have left or subscribed again during the read.
      if (!target.isCurrent()) return 'abandoned'
      if (done === true) return value === 'head' ? at : 'too_old'
      at = value.upTo
      if (!(await writePage(target, value))) return 'abandoned'
    }
  }

  return { replay }
}

function writePage(target: ReplayTarget, { frames }: Page): Promise<boolean> {
  return frames.length === 0 ? Promise.resolve(true) : target.write([Buffer.concat(frames)])
}

export interface StreamPages {
  readonly bus: Bus
  readonly feed: MarketFeed
  readonly topic: Topic
  readonly afterSeq: number
  /** Limits concurrent reads. */
  readonly gate: Gate
}

/** Why the pages end: the head was reached, or the stream does not hold the next change. */
export type PagesEnd = 'head' | 'gone'

/**
 * The topic's frames after `afterSeq`, read from the stream, up to the feed's head. The stream may be ahead of the fold;
 * what it holds beyond the head is delivered live later. Throws BusUnavailable.
 */
export async function* readStreamPages(pages: StreamPages): AsyncGenerator<Page, PagesEnd> {
  const { feed, topic, afterSeq } = pages
  const mark = feed.markBefore(afterSeq)
  if (mark === undefined) return 'gone'
  let { streamSeq, seq, lastTradeSeq } = mark
  for (;;) {
    const messages = await readRetained(pages, streamSeq)
    if (messages.length === 0) return 'gone'
    streamSeq += messages.length
    const frames: Buffer[] = []
    const head = feed.headSeq()
    for (const change of messages.flatMap(({ data }) => decodeBlock(data).changes)) {
      if (change.seq > head) break
      const tradeSeq = lastTradeSeq
      seq = change.seq
      lastTradeSeq = tradeSeqAfter(change, tradeSeq)
      if (seq <= afterSeq) continue
      const previous = { tradeSeq, ownerSeq: feed.ownersPreviousSeq(seq) }
      const frame = topicFrame(feed.market, change, { topic, previous })
      if (frame === 'unlinked') return 'gone'
      if (frame !== undefined) frames.push(frame)
    }
    yield { frames, upTo: Math.max(seq, afterSeq) }
    if (seq === head) return 'head'
  }
}

/** The next messages; none when they were trimmed. */
async function readRetained(
  { bus, feed, gate }: StreamPages,
  fromSeq: number,
): Promise<BusMessage[]> {
  const stream = feedStream(feed.market.market)
  try {
    return await gate(() => bus.read(stream, fromSeq, STREAM_PAGE_BLOCKS))
  } catch (error) {
    if (error instanceof MessagesGone) return []
    throw error
  }
}

/** Runs a task when a place is free. */
export type Gate = <T>(task: () => Promise<T>) => Promise<T>

/** Runs at most `width` tasks at a time; the others wait in order of arrival. */
export function createGate(width: number): Gate {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running === width) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
