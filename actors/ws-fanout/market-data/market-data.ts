import type { Block } from '../../../core/engine/change.js'
import { openOrders } from '../../../core/engine/feed.js'
import { closeCandles, emptySeries, foldCandles } from '../../../core/market-data/candle-series.js'
import {
  levelBookOf,
  moveLevel,
  type LevelBook,
  type LevelChange,
} from '../../../core/market-data/level-book.js'
import { statusState } from '../../../core/records/market-data.js'
import type { ShownView } from '../snapshots.js'
import type { TopicStream } from '../topic-stream.js'
import { FollowedStreams } from './followed-streams.js'
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
export interface MarketData {
  /** Folds a block that the view has folded, stored at this time in unix milliseconds. */
  after(block: Block, storedAtMs: number): void
  /** The view shows another observation. */
  changed(): void
  topic(topic: DataTopic): TopicStream
  stop(): void
}

export interface MarketDataParts {
  /** At the head between two blocks. */
  readonly view: ShownView
  /** The changes after a sequence, as far as they are in memory. */
  readonly changesAfter: (seq: number) => readonly LevelChange[] | undefined
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

export function createMarketData(parts: MarketDataParts): MarketData {
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
    ...{ market, open, nowMs },
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
