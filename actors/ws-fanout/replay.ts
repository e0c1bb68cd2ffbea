import { decodeBlock } from '../../bus-schemas/block-message.js'
import { MessagesGone, type Bus, type BusMessage } from '../../bus-schemas/bus.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { changeFrames } from './change-frames.js'
import type { Channel, Page } from './change-ring.js'
import { MAX_STREAM_READS, STREAM_PAGE_BLOCKS } from './limits.js'
import type { MarketFeed } from './market-feed.js'

/** Who receives a replay. */
export interface ReplayTarget {
  /** Whether the subscription still wants it. */
  isWanted(): boolean
  /** Writes frames and resolves when the client has taken them; false when it never will. */
  write(frames: Buffer): Promise<boolean>
}

/** `live`: all was sent and the caller may listen in this same turn; `too_old`: it is not retained. */
export type ReplayOutcome = 'live' | 'too_old' | 'abandoned'

export interface Replayer {
  /**
   * Sends everything of a channel that followed `sinceSeq`, however much, at the client's pace: first from the
   * stream, then from memory. `goLive` is called in the same turn in which nothing is left to send.
   */
  replay(request: ReplayRequest): Promise<ReplayOutcome>
}

export interface ReplayRequest {
  readonly feed: MarketFeed
  readonly channel: Channel
  readonly sinceSeq: number
  readonly target: ReplayTarget
  readonly goLive: () => void
}

/** Replays for one process; at most MAX_STREAM_READS of them read from the bus at a time. */
export function createReplayer(bus: Bus): Replayer {
  const gate = createGate(MAX_STREAM_READS)

  async function replay(request: ReplayRequest): Promise<ReplayOutcome> {
    const { feed, channel, target, goLive } = request
    for (let at = request.sinceSeq; ;) {
      if (!target.isWanted()) return 'abandoned'
      if (at === feed.headSeq()) {
        goLive()
        return 'live'
      }
      const page = feed.recentAfter(channel, at)
      if (page === undefined) {
        const reached = await replayFromStream(request, at)
        if (typeof reached === 'string') return reached
        at = reached
        continue
      }
      at = page.upTo
      const taken = writePage(target, page)
      // At the head nothing may be awaited before going live, or a change could slip in between.
      if (at !== feed.headSeq() && !(await taken)) return 'abandoned'
    }
  }

  /** Sends until memory holds the rest; resolves with the sequence reached. */
  async function replayFromStream(
    { feed, channel, target }: ReplayRequest,
    afterSeq: number,
  ): Promise<number | ReplayOutcome> {
    const pages = readPages(feed, channel, afterSeq)
    for (let at = afterSeq; ;) {
      if (!target.isWanted()) return 'abandoned'
      if (feed.recentAfter(channel, at) !== undefined) return at
      const { done, value } = await pages.next()
      if (done === true) return 'too_old'
      at = value.upTo
      if (!(await writePage(target, value))) return 'abandoned'
    }
  }

  /** Ends early, possibly before the first page, when the stream does not hold what should come next. */
  async function* readPages(
    feed: MarketFeed,
    channel: Channel,
    afterSeq: number,
  ): AsyncGenerator<Page, void> {
    const mark = feed.markBefore(afterSeq)
    if (mark === undefined) return
    let { streamSeq, seq, lastTradeSeq } = mark
    for (;;) {
      const messages = await gate(() =>
        readRetained(bus, feedStream(feed.market.market), streamSeq),
      )
      if (messages.length === 0) return
      streamSeq += messages.length
      const frames: Buffer[] = []
      for (const message of messages) {
        for (const change of decodeBlock(message.data).changes) {
          const made = changeFrames(feed.market, change, lastTradeSeq)
          seq = change.seq
          if (made.trades !== undefined) lastTradeSeq = seq
          const frame = made[channel]
          if (seq > afterSeq && frame !== undefined) frames.push(frame)
        }
      }
      yield { frames, upTo: Math.max(seq, afterSeq) }
    }
  }

  return { replay }
}

function writePage(target: ReplayTarget, { frames }: Page): Promise<boolean> {
  return frames.length === 0 ? Promise.resolve(true) : target.write(Buffer.concat(frames))
}

/** The next messages; none when they have been trimmed away. */
async function readRetained(bus: Bus, stream: string, fromSeq: number): Promise<BusMessage[]> {
  try {
    return await bus.read(stream, fromSeq, STREAM_PAGE_BLOCKS)
  } catch (error) {
    if (error instanceof MessagesGone) return []
    throw error
  }
}

/** Lets `width` tasks run at a time; the others wait in order of arrival. */
function createGate(width: number): <T>(task: () => Promise<T>) => Promise<T> {
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
