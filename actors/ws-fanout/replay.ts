import type { Bus } from '../../runtime/bus/bus.js'
import { MAX_STREAM_READS } from './limits.js'
import type { ReadLimiter, FramePage, TopicStream } from './topic-stream.js'

/** The receiver of a replay. */
export interface ReplayTarget {
  /** Whether the subscription that requested the replay is still current. */
  isCurrent(): boolean
  /** Writes frames; resolves with true when the client has taken them, with false when it cannot. */
  write(frames: readonly Buffer[]): Promise<boolean>
}

/** `live`: everything was sent and `goLive` was called. `too_old`: the changes are no longer held. */
export type ReplayOutcome = 'live' | 'too_old' | 'abandoned'

export interface Replayer {
  /**
   * Sends every frame of a topic after `sinceSeq` at the client's pace: first from the bus, where the topic has such
   * pages, then from memory. Calls `goLive` in the same turn in which nothing is left to send.
   */
  replay(request: ReplayRequest): Promise<ReplayOutcome>
}

export interface ReplayRequest {
  readonly stream: TopicStream
  readonly sinceSeq: number
  readonly target: ReplayTarget
  readonly goLive: () => void
}

/** Replays for one process; at most MAX_STREAM_READS of them read from the bus at a time. */
export function createReplayer(bus: Bus): Replayer {
  const limiter = createReadLimiter(MAX_STREAM_READS)

  async function replay(request: ReplayRequest): Promise<ReplayOutcome> {
    const { stream, target, goLive } = request
    for (let at = request.sinceSeq; ;) {
      if (!target.isCurrent()) return 'abandoned'
      if (at === stream.headSeq()) {
        goLive()
        return 'live'
      }
      const page = stream.recentAfter(at)
      if (page === undefined) {
        const reached = await replayFromBus(request, at)
        if (typeof reached === 'string') return reached
        at = reached
        continue
      }
      at = page.upTo
      const taken = writePage(target, page)
      // At the head, go live without awaiting: a change could come in between.
      if (at !== stream.headSeq() && !(await taken)) return 'abandoned'
    }
  }

  /** Sends until the ring holds the rest or the head is reached; resolves with the sequence reached. */
  async function replayFromBus(
    { stream, target }: ReplayRequest,
    afterSeq: number,
  ): Promise<number | ReplayOutcome> {
    const pages = stream.olderPages?.(afterSeq, { bus, limiter })
    if (pages === undefined) return 'too_old'
    for (let at = afterSeq; ;) {
      if (!target.isCurrent()) return 'abandoned'
      if (stream.recentAfter(at) !== undefined) return at
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

function writePage(target: ReplayTarget, { frames }: FramePage): Promise<boolean> {
  return frames.length === 0 ? Promise.resolve(true) : target.write([Buffer.concat(frames)])
}

/** Runs at most `width` tasks at a time; the others wait in order of arrival. */
export function createReadLimiter(width: number): ReadLimiter {
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
