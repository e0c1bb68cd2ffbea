import { notionalFloor } from '../contracts/fees.js'
import { completedTrade } from '../engine/feed.js'
import type { Change } from '../model/change.js'
import type { Fill } from '../model/match.js'
import { amountE18, quoteE18, type AmountE18, type PriceE18, type QuoteE18 } from '../money.js'
import { CANDLE_INTERVALS_SEC } from '../records/candle-intervals.js'
import type { Candle, CandleInterval } from '../records/candle-record.js'
import type { TradeStats } from '../records/trade-record.js'

/** The part of a trade that a candle needs. */
export interface CandleTrade {
  readonly price: PriceE18
  readonly amount: AmountE18
  /** price × amount, rounded down. */
  readonly quote: QuoteE18
}

/** A candle that trades are added to. */
export type OpenCandle = { -readonly [Key in keyof Candle]: Candle[Key] }

/** Start of the epoch-aligned bucket that holds this millisecond, in unix seconds. */
export function bucketStartSec(atMs: number, widthSec: number): number {
  const widthMs = widthSec * 1000
  return (atMs - (atMs % widthMs)) / 1000
}

/** A candle that trades of this price begin; it has none yet. */
export const emptyCandle = (startSec: number, price: PriceE18): OpenCandle => ({
  startSec,
  open: price,
  high: price,
  low: price,
  close: price,
  volume: amountE18(0n),
  quoteVolume: quoteE18(0n),
  tradeCount: 0,
})

/** Adds the next trade of the bucket. */
export function addTrade(candle: OpenCandle, { price, amount, quote }: CandleTrade): void {
  if (candle.tradeCount === 0) {
    candle.open = price
    candle.high = price
    candle.low = price
  }
  if (price > candle.high) candle.high = price
  if (price < candle.low) candle.low = price
  candle.close = price
  candle.volume = amountE18(candle.volume + amount)
  candle.quoteVolume = quoteE18(candle.quoteVolume + quote)
  candle.tradeCount += 1
}

/** Adds a later candle of the same bucket's time. */
function addCandle(candle: OpenCandle, later: Candle): void {
  if (candle.tradeCount === 0) {
    candle.open = later.open
    candle.high = later.high
    candle.low = later.low
  }
  if (later.high > candle.high) candle.high = later.high
  if (later.low < candle.low) candle.low = later.low
  candle.close = later.close
  candle.volume = amountE18(candle.volume + later.volume)
  candle.quoteVolume = quoteE18(candle.quoteVolume + later.quoteVolume)
  candle.tradeCount += later.tradeCount
}

/** What the trades of a candle contribute to the statistics of a longer time. */
export const statsOfCandle = (candle: Omit<Candle, 'startSec' | 'tradeCount'>): TradeStats => ({
  first: candle.open,
  last: candle.close,
  high: candle.high,
  low: candle.low,
  volume: candle.volume,
  quoteVolume: candle.quoteVolume,
})

/** Joins the statistics of two spans of time; the first is the earlier one. */
export function joinStats(earlier: TradeStats | undefined, later: TradeStats): TradeStats {
  if (earlier === undefined) return later
  return {
    first: earlier.first,
    last: later.last,
    high: later.high > earlier.high ? later.high : earlier.high,
    low: later.low < earlier.low ? later.low : earlier.low,
    volume: amountE18(earlier.volume + later.volume),
    quoteVolume: quoteE18(earlier.quoteVolume + later.quoteVolume),
  }
}

/** A candle as the `candles` channel shows it. */
export interface HeldCandle extends OpenCandle {
  /** Number of its last update. */
  seq: number
  /** Time of its last update, unix milliseconds. */
  updatedMs: number
  closed: boolean
}

/** The candles of one interval, and the numbers of their updates. */
export interface IntervalCandles {
  readonly widthSec: number
  /** Oldest first, at most KEPT_CANDLES of them; one whose trades were all reversed has a count of 0. */
  readonly candles: HeldCandle[]
  /** Number of the newest update; even while the newest candle is open. */
  seq: number
  /** Updates up to this number may concern candles that are no longer held. */
  goneSeq: number
}

interface HeldTrade extends CandleTrade {
  readonly tradeId: number
  readonly atMs: number
  reversed: boolean
}

/**
 * The newest candles of a market, folded from its changes. An update is numbered by the change that made it, times two;
 * the end of a candle's time has the odd number after the newest update. So the numbers follow from the feed, whichever
 * process folds it, but for the moment of the odd ones.
 */
export interface CandleSeries {
  readonly intervals: Readonly<Record<CandleInterval, IntervalCandles>>
  /** The newest trades, oldest first. */
  readonly trades: HeldTrade[]
  /** Whether there were older trades. */
  hasGoneTrades: boolean
}

/** Candles held of each interval: of the shortest more than the traded minutes of two days. */
export const KEPT_CANDLES = 3_000
/** Trades held for the reversal of one of them. */
const KEPT_TRADES = 16_384
/** Arrays are cut when they are so much longer than what is kept. */
const SLACK = 512

/** How long after the end of its time a candle is closed: market time lags behind the clock. */
export const CLOSE_AFTER_MS = 1_000

export const CANDLE_INTERVALS = Object.keys(CANDLE_INTERVALS_SEC) as CandleInterval[]

export function emptySeries(): CandleSeries {
  const intervals = Object.fromEntries(
    CANDLE_INTERVALS.map((interval) => [
      interval,
      { widthSec: CANDLE_INTERVALS_SEC[interval], candles: [], seq: 0, goneSeq: 0 },
    ]),
  ) as unknown as CandleSeries['intervals']
  return { intervals, trades: [], hasGoneTrades: false }
}

/** Folds a change; nearly all of them concern no candle. */
export function foldCandles(series: CandleSeries, change: Change): void {
  const trade = completedTrade(change)
  if (trade !== undefined) addFill(series, trade.fill, change)
  else if (change.kind === 'FillReversed' && change.fill.liquidity === 'maker') {
    reverse(series, change.fill.tradeId, change)
  }
}

type ChangeStamp = Pick<Change, 'seq' | 'atMs'>

function addFill(
  series: CandleSeries,
  { tradeId, price, amount }: Fill,
  update: ChangeStamp,
): void {
  const { atMs } = update
  const trade = { price, amount, quote: notionalFloor(price, amount) }
  series.trades.push({ ...trade, tradeId, atMs, reversed: false })
  if (series.trades.length > KEPT_TRADES + SLACK) {
    series.trades.splice(0, SLACK)
    series.hasGoneTrades = true
  }
  for (const held of Object.values(series.intervals)) {
    const startSec = bucketStartSec(atMs, held.widthSec)
    let candle = held.candles.at(-1)
    if (candle === undefined || candle.startSec < startSec) {
      if (candle !== undefined) close(held, candle)
      candle = { ...emptyCandle(startSec, price), seq: 0, updatedMs: 0, closed: false }
      held.candles.push(candle)
      cut(held)
    }
    addTrade(candle, trade)
    touch(held, candle, update)
  }
}

function touch(held: IntervalCandles, candle: HeldCandle, { seq, atMs }: ChangeStamp): void {
  held.seq = 2 * seq
  candle.seq = held.seq
  candle.updatedMs = atMs
}

function cut(held: IntervalCandles): void {
  if (held.candles.length <= KEPT_CANDLES + SLACK) return
  for (const { seq } of held.candles.splice(0, SLACK)) held.goneSeq = Math.max(held.goneSeq, seq)
}

const endMs = ({ widthSec }: IntervalCandles, { startSec }: HeldCandle): number =>
  (startSec + widthSec) * 1000

/** Only the newest candle can be open, and then the newest update has an even number. */
function close(held: IntervalCandles, candle: HeldCandle): void {
  if (candle.closed) return
  held.seq += 1
  candle.seq = held.seq
  candle.updatedMs = endMs(held, candle)
  candle.closed = true
}

/** Closes the candles whose time is over. */
export function closeCandles(series: CandleSeries, nowMs: number): void {
  for (const held of Object.values(series.intervals)) {
    const newest = held.candles.at(-1)
    if (newest !== undefined && endMs(held, newest) + CLOSE_AFTER_MS <= nowMs) close(held, newest)
  }
}

/**
 * Rebuilds the candles of a trade without it: that of its minute from the trades, the others from those of the minutes. What
 * is no longer held in full stays as it is.
 */
function reverse(series: CandleSeries, tradeId: number, update: ChangeStamp): void {
  const { intervals, trades } = series
  const trade = trades.findLast((held) => held.tradeId === tradeId)
  if (trade === undefined) return
  trade.reversed = true
  const { candles: minutes, goneSeq } = intervals['1m']
  const standing = trades.filter(({ reversed }) => !reversed)
  for (const held of Object.values(intervals)) {
    const startSec = bucketStartSec(trade.atMs, held.widthSec)
    const isOfMinute = held === intervals['1m']
    const isWhole = isOfMinute
      ? !series.hasGoneTrades || isEarlier(trades[0]?.atMs, startSec * 1000)
      : goneSeq === 0 || isEarlier(minutes[0]?.startSec, startSec)
    const candle = held.candles.findLast((one) => one.startSec === startSec)
    if (!isWhole || candle === undefined) continue
    const rebuilt = emptyCandle(startSec, candle.open)
    const isIn = (atSec: number) => atSec >= startSec && atSec < startSec + held.widthSec
    if (isOfMinute) {
      for (const one of standing) if (isIn(one.atMs / 1000)) addTrade(rebuilt, one)
    } else {
      for (const one of minutes)
        if (isIn(one.startSec) && one.tradeCount > 0) addCandle(rebuilt, one)
    }
    Object.assign(candle, rebuilt)
    touch(held, candle, update)
  }
}

/** Whether the oldest that is held, if any is, lies before a time: then all of that time is held. */
const isEarlier = (oldest: number | undefined, time: number): boolean =>
  oldest !== undefined && oldest < time

/** The newest `limit` candles with trades, oldest first. */
export function newestCandles({ candles }: IntervalCandles, limit: number): HeldCandle[] {
  return candles.filter(({ tradeCount }) => tradeCount > 0).slice(-limit)
}

/** The candles that were updated after a number, by the number of their last update; undefined when one may be gone. */
export function candlesAfter(
  { candles, seq, goneSeq }: IntervalCandles,
  sinceSeq: number,
): HeldCandle[] | undefined {
  if (sinceSeq < goneSeq || sinceSeq > seq) return undefined
  if (sinceSeq === seq) return []
  return candles.filter((one) => one.seq > sinceSeq).sort((a, b) => a.seq - b.seq)
}

const DAY_SEC = 86_400

/** Statistics of the trades since the minute in which the last 24 hours began; undefined when there were none. */
export function statsOfDay({ intervals }: CandleSeries, nowMs: number): TradeStats | undefined {
  const { candles, widthSec } = intervals['1m']
  const fromSec = bucketStartSec(nowMs, widthSec) - DAY_SEC
  let stats: TradeStats | undefined
  for (const candle of candles) {
    if (candle.startSec < fromSec || candle.tradeCount === 0) continue
    stats = joinStats(stats, statsOfCandle(candle))
  }
  return stats
}
