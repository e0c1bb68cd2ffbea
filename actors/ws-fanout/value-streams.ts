import { contractOf } from '../../core/contracts/registry.js'
import {
  candlesAfter,
  newestCandles,
  statsOfDay,
  type CandleSeries,
  type HeldCandle,
  type IntervalCandles,
} from '../../core/market-data/candle-series.js'
import {
  bestLevels,
  bestLevelsBefore,
  checksumOf,
  levelsThatDiffer,
  type LevelBook,
  type LevelChange,
} from '../../core/market-data/level-book.js'
import type { Market } from '../../core/model/market.js'
import type { BookLevels } from '../../core/records/listing-record.js'
import { candleState, levelsRecord, tickerState } from '../../core/records/market-data.js'
import type { TradeStats } from '../../core/records/trade-record.js'
import { isoTime } from '../../core/time.js'
import type { LevelDepth, TickerState } from '../../interface/market-data.js'
import type { CandleInterval } from '../../interface/trade.js'
import { MAX_SNAPSHOT_CANDLES } from './limits.js'
import { textFrame, type Snapshot } from './server-frames.js'
import type { ShownView } from './snapshots.js'

/** A public stream of absolute values. */
export type DataTopic =
  | { readonly channel: 'levels'; readonly depth: LevelDepth }
  | { readonly channel: 'candles'; readonly interval: CandleInterval }
  | { readonly channel: 'ticker' | 'status' }

/**
 * A public stream of absolute values, one of each kind for each market: what a client holds after a frame does not depend on
 * the frames before, as long as it has seen all of them or a catch-up. Made when a first client follows it.
 */
export interface ValueStream {
  /** Number of the newest update, whether `next` has returned it or not. */
  headSeq(): number
  /** The updates since the last call, rendered once for all subscribers. */
  next(): Buffer[]
  /** The state that all updates so far lead to. */
  snapshot(): Snapshot
  /** The frames that bring a client from a number to the head; undefined where only a snapshot does. */
  after(sinceSeq: number): Buffer[] | undefined
}

/** What the frames of a stream have in common. */
interface FrameHead {
  readonly channel: string
  readonly market: string
  readonly depth?: number
  readonly interval?: string
}

/** One update and its place in its stream. */
interface StreamUpdate {
  readonly seq: number
  readonly prevSeq: number
  /** ISO time. */
  readonly ts: string
  readonly data: object
}

const updateFrame = (head: FrameHead, { seq, prevSeq, ts, data }: StreamUpdate): Buffer =>
  textFrame(JSON.stringify({ type: 'update', ...head, seq, prev_seq: prevSeq, ts, data }))

/** The data of a snapshot as JSON, rendered once until it is dropped. */
function keptData(render: () => object) {
  let kept: Buffer | undefined
  return {
    get: (): Buffer[] => [(kept ??= Buffer.from(JSON.stringify(render())))],
    drop: (): void => void (kept = undefined),
  }
}

interface StateParts {
  readonly head: FrameHead
  /** The state now. */
  readonly read: () => object
  /** The number of an update, given that of the one before; 0 before the first. */
  readonly numberOf: (before: number) => number
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** A stream whose whole state is one small object: each update is all of it. A client that has not the newest gets a snapshot. */
export function stateStream({ head, read, numberOf, nowMs }: StateParts): ValueStream {
  let state = read()
  let text = JSON.stringify(state)
  let seq = numberOf(0)
  const data = keptData(() => state)
  return {
    headSeq: () => seq,
    next() {
      const now = read()
      const nowText = JSON.stringify(now)
      if (nowText === text) return []
      const prevSeq = seq
      ;[state, text, seq] = [now, nowText, numberOf(seq)]
      data.drop()
      return [updateFrame(head, { seq, prevSeq, ts: isoTime(nowMs()), data: state })]
    },
    snapshot: () => ({ seq, data: data.get() }),
    after: (sinceSeq) => (sinceSeq === seq ? [] : undefined),
  }
}

/** What the levels are read from: the view of the market and the book added up by price, both at the head. */
interface LevelsSource {
  readonly view: { readonly market: Market; readonly seq: number; readonly atMs: number }
  readonly book: () => LevelBook
  /** The changes after a sequence, as far as they are in memory. */
  readonly changesAfter: (seq: number) => readonly LevelChange[] | undefined
}

/**
 * The best levels of a market, numbered by the market's changes that they reflect. Changes of one turn of the event loop
 * share an update. Resumed as far back as the changes are in memory: the levels as they were follow from them.
 */
export function levelsStream(
  { view, book, changesAfter }: LevelsSource,
  depth: LevelDepth,
): ValueStream {
  let shown = bestLevels(book(), depth)
  let [foldedSeq, updateSeq] = [view.seq, view.seq]
  const data = keptData(() => levelsRecord(view.market, shown, checksumOf(shown)))

  const frame = (levels: BookLevels, after: BookLevels, prevSeq: number): Buffer =>
    updateFrame(
      { channel: 'levels', market: view.market.market, depth },
      {
        seq: view.seq,
        prevSeq,
        ts: isoTime(view.atMs),
        data: levelsRecord(view.market, levels, checksumOf(after)),
      },
    )

  return {
    headSeq: () => view.seq,
    next() {
      if (view.seq === foldedSeq) return []
      foldedSeq = view.seq
      const best = bestLevels(book(), depth)
      const changed = levelsThatDiffer(shown, best)
      if (isEmpty(changed)) return []
      const next = frame(changed, best, updateSeq)
      shown = best
      updateSeq = view.seq
      data.drop()
      return [next]
    },
    snapshot: () => ({ seq: view.seq, data: data.get() }),
    after(sinceSeq) {
      const changes = changesAfter(sinceSeq)
      if (changes === undefined) return undefined
      const best = bestLevels(book(), depth)
      const changed = levelsThatDiffer(bestLevelsBefore(book(), changes, depth), best)
      return isEmpty(changed) ? [] : [frame(changed, best, sinceSeq)]
    },
  }
}

const isEmpty = ({ bids, asks }: BookLevels): boolean => bids.length + asks.length === 0

/**
 * The candles of one interval. A candle that several trades of one turn of the event loop have changed is sent once, and a
 * resume sends each candle that was changed since once, as it is now.
 */
export function candlesStream(
  market: string,
  interval: CandleInterval,
  held: IntervalCandles,
): ValueStream {
  let sentSeq = held.seq
  const data = keptData(() => newestCandles(held, MAX_SNAPSHOT_CANDLES).map(candleState))

  function framesOf(candles: readonly HeldCandle[], sinceSeq: number): Buffer[] {
    let prevSeq = sinceSeq
    return candles.map((candle) => {
      const { seq, updatedMs } = candle
      const update = { seq, prevSeq, ts: isoTime(updatedMs), data: candleState(candle) }
      prevSeq = seq
      return updateFrame({ channel: 'candles', market, interval }, update)
    })
  }

  return {
    headSeq: () => held.seq,
    next() {
      if (held.seq === sentSeq) return []
      const frames = framesOf(candlesAfter(held, sentSeq) ?? [], sentSeq)
      sentSeq = held.seq
      data.drop()
      return frames
    },
    snapshot: () => ({ seq: held.seq, data: data.get() }),
    after(sinceSeq) {
      const candles = candlesAfter(held, sinceSeq)
      return candles && framesOf(candles, sinceSeq)
    },
  }
}

interface TickerSource {
  readonly view: ShownView
  readonly series: CandleSeries
  readonly book: () => LevelBook
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

const MINUTE_MS = 60_000

/** Reads the ticker of a market; the day's statistics are summed once for each trade and minute. */
export function createReadTicker({ view, series, book, nowMs }: TickerSource): () => TickerState {
  let summed: { readonly seq: number; readonly minute: number } | undefined
  let stats: TradeStats | undefined

  function statsNow(): TradeStats | undefined {
    const { seq } = series.intervals['1m']
    const minute = Math.floor(nowMs() / MINUTE_MS)
    if (summed?.seq !== seq || summed.minute !== minute) {
      stats = statsOfDay(series, nowMs())
      summed = { seq, minute }
    }
    return stats
  }

  return () => {
    const { market, observed, trades } = view
    const { bids, asks } = bestLevels(book(), 1)
    const last = trades.find(({ reversed }) => reversed !== true)
    return tickerState(market, {
      bid: bids[0],
      ask: asks[0],
      stats: statsNow(),
      last: last && { price: last.fill.price, atMs: last.atMs },
      prices: observed && contractOf(market).present.prices?.at(observed.facts),
    })
  }
}
