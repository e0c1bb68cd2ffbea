import type { CandleRecord } from '../../client/index.js'
import { traderPrice } from './book-rows.js'
import type { MarketArithmetic } from './market-terms.js'
import { readOrZero, toDrawn } from './numbers.js'

/** A candle for drawing, in trader terms; numbers for the eye alone. */
export interface Bar {
  /** Unix seconds. */
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** On an inverted market the highest price is the lowest of the engine, and the volume is that of the quote. */
export function barOf(terms: MarketArithmetic, candle: CandleRecord): Bar {
  const price = (text: string): number => toDrawn(traderPrice(terms, readOrZero(text)))
  const high = price(candle.high)
  const low = price(candle.low)
  return {
    time: Date.parse(candle.bucket_start) / 1_000,
    open: price(candle.open),
    close: price(candle.close),
    high: Math.max(high, low),
    low: Math.min(high, low),
    volume: toDrawn(readOrZero(terms.isInverted ? candle.quote_volume : candle.volume)),
  }
}
