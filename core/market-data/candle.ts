import { amountE18, quoteE18, type AmountE18, type PriceE18, type QuoteE18 } from '../money.js'
import type { Candle } from '../records/candle-record.js'
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
export function addCandle(candle: OpenCandle, later: Candle): void {
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
