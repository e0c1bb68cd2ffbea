import { CLOSE_AFTER_MS } from '../../../core/market-data/candle-series.js'
import type { Subscriber } from '../subscribers.js'
import type { TopicStream } from '../topic-stream.js'
import type { DataTopic, ValueStream } from './value-streams.js'

export interface FollowedStreamsParts {
  readonly market: string
  readonly open: (topic: DataTopic) => ValueStream
  /** Brings what the streams read up to the time. */
  readonly refresh: () => void
  /** A topic has lost its last subscriber; these are left. */
  readonly onLeft: (left: readonly DataTopic[]) => void
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** A stream with its subscribers. */
interface Followed {
  readonly topic: DataTopic
  readonly stream: ValueStream
  readonly subscribers: Set<Subscriber>
}

const MINUTE_MS = 60_000

/** The value streams of one market that have subscribers. */
export class FollowedStreams {
  readonly #parts: FollowedStreamsParts
  /** One entry for each topic that clients may name. */
  readonly #followed = new Map<string, Followed>()
  #isQueued = false
  #clock: NodeJS.Timeout | undefined

  constructor(parts: FollowedStreamsParts) {
    this.#parts = parts
  }

  /** Delivers what differs at the end of the turn of the event loop. */
  changed(): void {
    if (this.#followed.size === 0 || this.#isQueued) return
    this.#isQueued = true
    setImmediate(() => this.#flushQueued())
  }

  topic(topic: DataTopic): TopicStream {
    const { market } = this.#parts
    const { channel, ...params } = topic
    const key = [channel, ...Object.values<string | number>(params), market].join(' ')
    const stream = (): ValueStream => this.#entryOf(key, topic).stream
    return {
      ...{ key, channel, market, params },
      headSeq: () => {
        this.#flush()
        return stream().headSeq()
      },
      snapshot: () => stream().snapshot(),
      recentAfter(afterSeq) {
        const frames = stream().after(afterSeq)
        return frames && { frames, upTo: stream().headSeq() }
      },
      // In the turn of a snapshot or of `headSeq`: nothing is queued.
      subscribe: (subscriber) => {
        this.#entryOf(key, topic).subscribers.add(subscriber)
        this.#followClock()
      },
      unsubscribe: (subscriber) => {
        this.#flush()
        const subscribers = this.#followed.get(key)?.subscribers
        if (subscribers?.delete(subscriber) === true && subscribers.size === 0) this.#forget(key)
      },
    }
  }

  stop(): void {
    clearTimeout(this.#clock)
    this.#clock = undefined
  }

  /** Delivers what has changed to the subscribers of this moment. */
  #flush(): void {
    this.#isQueued = false
    this.#parts.refresh()
    for (const { stream, subscribers } of this.#followed.values()) {
      const frames = stream.next()
      if (frames.length === 0) continue
      const joined = Buffer.concat(frames)
      for (const subscriber of subscribers) subscriber.deliver(joined)
    }
  }

  #flushQueued(): void {
    if (!this.#isQueued) return
    this.#flush()
    // One that was opened for a resume which did not come to its end.
    for (const [key, { subscribers }] of this.#followed) {
      if (subscribers.size === 0) this.#forget(key)
    }
  }

  #entryOf(key: string, topic: DataTopic): Followed {
    const known = this.#followed.get(key)
    if (known !== undefined) return known
    const made = { topic, stream: this.#parts.open(topic), subscribers: new Set<Subscriber>() }
    this.#followed.set(key, made)
    return made
  }

  #forget(key: string): void {
    this.#followed.delete(key)
    this.#parts.onLeft(Array.from(this.#followed.values(), ({ topic }) => topic))
    if (this.#followed.size === 0) this.stop()
  }

  /** Candles end, and a day moves on, without a change. */
  #followClock(): void {
    const { nowMs } = this.#parts
    this.#clock ??= setTimeout(
      () => {
        this.#clock = undefined
        this.#flush()
        if (this.#followed.size > 0) this.#followClock()
      },
      MINUTE_MS - (nowMs() % MINUTE_MS) + CLOSE_AFTER_MS,
    )
  }
}
