import type { Bus } from '../../bus-schemas/bus.js'
import type { Page } from './change-ring.js'
import { createGate } from './gate.js'
import { MAX_STREAM_READS } from './limits.js'
import type { MarketFeed } from './market-feed.js'
import { readStreamPages } from './stream-pages.js'
import type { Topic } from './topic.js'

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
   * Sends everything of a topic that followed `sinceSeq`, however much, at the client's pace: first from the
   * stream, then from memory. `goLive` is called in the same turn in which nothing is left to send.
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
      if (!target.isWanted()) return 'abandoned'
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
      // At the head nothing may be awaited before going live, or a change could slip in between.
      if (at !== feed.headSeq() && !(await taken)) return 'abandoned'
    }
  }

  /** Sends until memory holds the rest or there is none; resolves with the sequence reached. */
  async function replayFromStream(
    { feed, topic, target }: ReplayRequest,
    afterSeq: number,
  ): Promise<number | ReplayOutcome> {
    const pages = readStreamPages({ bus, feed, topic, afterSeq, gate })
    for (let at = afterSeq; ;) {
      if (!target.isWanted()) return 'abandoned'
      if (feed.recentAfter(topic, at) !== undefined) return at
      const { done, value } = await pages.next()
      // The client may have left, or begun anew, while the stream was read.
      if (!target.isWanted()) return 'abandoned'
      if (done === true) return value === 'head' ? at : 'too_old'
      at = value.upTo
      if (!(await writePage(target, value))) return 'abandoned'
    }
  }

  return { replay }
}

function writePage(target: ReplayTarget, { frames }: Page): Promise<boolean> {
  return frames.length === 0 ? Promise.resolve(true) : target.write(Buffer.concat(frames))
}
