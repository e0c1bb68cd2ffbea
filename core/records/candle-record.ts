import type { Market } from '../model/market.js'
import type { CandleInterval, CandleRecord, CandlesPage } from '../../interface/trade.js'
import { formatDecimal } from '../decimal.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../money.js'
import { isoTime } from '../time.js'
import { marketEntry, type ShownOfMarket } from './market-entry.js'

export type { CandleInterval } from '../../interface/trade.js'

/** The trades of one bucket, engine values; a bucket without trades has no candle. */
export interface Candle {
  /** Unix second; a multiple of the interval. */
  readonly startSec: number
  readonly open: PriceE18
  readonly high: PriceE18
  readonly low: PriceE18
  readonly close: PriceE18
  /** Sum of the amounts. */
  readonly volume: AmountE18
  /** Sum of price × amount, each rounded down as the chain moves it. */
  readonly quoteVolume: QuoteE18
  readonly tradeCount: number
}

/** Presents candles in the order given (REA-018); buckets without trades are absent. */
export function candlesPage(
  market: Market,
  candles: readonly Candle[],
  { interval, ...shown }: { readonly interval: CandleInterval } & ShownOfMarket,
): CandlesPage {
  return {
    market_presentation: marketEntry(market, shown),
    interval,
    candles: candles.map(candleRecord),
  }
}

/** One candle; its buckets are named by their start. */
export function candleRecord(candle: Candle): CandleRecord {
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
