import type { Candle, CandleInterval } from '../candles.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../market.js'
import { isoTime } from './iso-time.js'
import { marketEntry } from './market-entry.js'
import type { MarketEntry } from './market-entry.js'

/** A candle of decision D5: engine values in decimal text. */
export interface CandleRecord {
  /** ISO 8601. */
  readonly bucket_start: string
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: string
  readonly quote_volume: string
  readonly trade_count: number
}

/** The body of `GET /v1/candles`; buckets without trades are absent. */
export interface CandlesRecord {
  readonly market_presentation: MarketEntry
  readonly interval: CandleInterval
  readonly candles: readonly CandleRecord[]
}

/** Presents candles in the order given. */
export function candlesRecord(
  market: Market,
  candles: readonly Candle[],
  options: { readonly interval: CandleInterval; readonly lastTradeSec?: number | undefined },
): CandlesRecord {
  return {
    market_presentation: marketEntry(market, options.lastTradeSec),
    interval: options.interval,
    candles: candles.map(candleRecord),
  }
}

function candleRecord(candle: Candle): CandleRecord {
  return {
    bucket_start: isoTime(candle.startSec * 1000),
    open: formatDecimal(candle.open, 18),
    high: formatDecimal(candle.high, 18),
    low: formatDecimal(candle.low, 18),
    close: formatDecimal(candle.close, 18),
    volume: formatDecimal(candle.volume, 18),
    quote_volume: formatDecimal(candle.quoteVolume, 18),
    trade_count: candle.tradeCount,
  }
}
