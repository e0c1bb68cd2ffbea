import type { CandleRecord, OrderRecord } from '../../client/index.js'
import { traderPrice } from './book-rows.js'
import type { MarketTerms } from './market-terms.js'
import { readOrZero, toDrawn } from './numbers.js'
import { traderSide } from './side-words.js'

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
export function barOf(terms: MarketTerms, candle: CandleRecord): Bar {
  const price = (text: string): number => toDrawn(traderPrice(terms, readOrZero(text)))
  const [high, low] = [price(candle.high), price(candle.low)]
  return {
    time: Date.parse(candle.bucket_start) / 1_000,
    ...{ open: price(candle.open), close: price(candle.close) },
    ...{ high: Math.max(high, low), low: Math.min(high, low) },
    volume: toDrawn(readOrZero(terms.isInverted ? candle.quote_volume : candle.volume)),
  }
}

/** A line across the chart. */
export interface PriceLine {
  readonly price: number
  readonly name: string
  readonly kind: 'buy' | 'sell' | 'mark' | 'index' | 'entry' | 'liquidation' | 'band'
}

/** So many lines are named; those of own orders come first. */
const NAMED = 8

/** What the chart shows, in words: its lines by name and price. */
export function chartWords(lines: readonly PriceLine[], decimals: number): string {
  const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  const named = lines
    .slice(0, NAMED)
    .map(({ name, price }) => `${name} ${price.toLocaleString('en', options)}`)
  return ['Candles with volume', ...named].join(', ')
}

/** A line for each open order. */
export const orderLines = (
  terms: MarketTerms,
  records: readonly OrderRecord[],
): readonly PriceLine[] =>
  records.map((record) => {
    const kind = traderSide(terms, record.side)
    const price = toDrawn(traderPrice(terms, readOrZero(record.limit_price)))
    return { price, kind, name: kind }
  })
