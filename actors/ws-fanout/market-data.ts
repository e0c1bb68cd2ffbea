import { openOrders } from '../../core/engine/feed.js'
import {
  CLOSE_AFTER_MS,
  closeCandles,
  emptySeries,
  foldCandles,
} from '../../core/market-data/candle-series.js'
import {
  levelBookOf,
  moveLevel,
  type LevelBook,
  type LevelChange,
} from '../../core/market-data/level-book.js'
import type { Block } from '../../core/model/change.js'
import { statusState } from '../../core/records/market-data.js'
import type { ShownView } from './snapshots.js'
import type { Subscriber } from './subscribers.js'
import type { TopicStream } from './topic-stream.js'
import {
  candlesStream,
  createReadTicker,
  levelsStream,
  stateStream,
  type DataTopic,
  type ValueStream,
} from './value-streams.js'

/**
 * The channels `levels`, `candles`, `ticker` and `status` of one market. Updates are rendered once, at the end of a turn of
 * the event loop, and only for streams that have a subscriber.
 */
export interface MarketDataChannels {
  /** Folds a block that the view has folded, stored at this time in unix milliseconds. */
  after(block: Block, storedAtMs: number): void
  /** The view shows another observation. */
  changed(): void
  topic(topic: DataTopic): TopicStream
  stop(): void
}

interface MarketDataParts {
  /** At the head between two blocks. */
  readonly view: ShownView
  /** The changes after a sequence, as far as they are in memory. */
  readonly changesAfter: (seq: number) => readonly LevelChange[] | undefined
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

export function createMarketData(parts: MarketDataParts): MarketDataChannels {
  const { view, nowMs } = parts
  const { market } = view.market
  const series = emptySeries()
  const status = createStatus(view)
  let book: LevelBook | undefined

  const bookNow = (): LevelBook => (book ??= levelBookOf(openOrders(view)))
  const readTicker = createReadTicker({ view, series, book: bookNow, nowMs })

  function open(topic: DataTopic): ValueStream {
    switch (topic.channel) {
      case 'levels':
        return levelsStream({ ...parts, book: bookNow }, topic.depth)
      case 'candles':
        return candlesStream(market, topic.interval, series.intervals[topic.interval])
      case 'ticker': {
        // Of no other process, so that a number of another one is answered by a snapshot.
        const numberOf = (before: number): number => Math.max(before + 1, nowMs())
        return stateStream({ head: { ...topic, market }, read: readTicker, numberOf, nowMs })
      }
      case 'status':
        return stateStream({ head: { ...topic, market }, ...status, nowMs })
    }
  }

  const streams = new FollowedStreams({
    market,
    open,
    nowMs,
    refresh: () => closeCandles(series, nowMs()),
    onLeft(left) {
      if (!left.some(usesBook)) book = undefined
    },
  })

  return {
    changed: () => streams.changed(),
    topic: (topic) => streams.topic(topic),
    stop: () => streams.stop(),
    after({ changes, terms }, storedAtMs) {
      for (const change of changes) {
        foldCandles(series, change)
        if (book !== undefined) moveLevel(book, change)
      }
      if (terms !== undefined) status.stated(storedAtMs)
      streams.changed()
    },
  }
}

const usesBook = ({ channel }: DataTopic): boolean => channel === 'levels' || channel === 'ticker'

/** How the market trades, numbered by how often its feed has stated something else. */
function createStatus(view: ShownView) {
  let statements = 0
  let since: number | undefined
  let text = ''
  return {
    read: () => statusState(view.market, since),
    numberOf: () => statements,
    stated(atMs: number): void {
      const now = JSON.stringify(statusState(view.market, undefined))
      if (now === text) return
      text = now
      since = atMs
      statements += 1
    },
  }
}

interface FollowedStreamsParts {
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
interface FollowedStream {
  readonly topic: DataTopic
  readonly stream: ValueStream
  readonly subscribers: Set<Subscriber>
}

const MINUTE_MS = 60_000

/** The value streams of one market that have subscribers. */
class FollowedStreams {
  readonly #parts: FollowedStreamsParts
  /** One entry for each topic that clients may name. */
  readonly #followed = new Map<string, FollowedStream>()
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
      key,
      channel,
      market,
      params,
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

  #entryOf(key: string, topic: DataTopic): FollowedStream {
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
