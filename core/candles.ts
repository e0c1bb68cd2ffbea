import type { AmountE18, PriceE18, QuoteE18 } from './money.js'

/** The intervals of `GET /v1/candles`, in seconds. */
export const CANDLE_INTERVALS_SEC = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
} as const

export type CandleInterval = keyof typeof CANDLE_INTERVALS_SEC

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

export const isCandleInterval = (text: unknown): text is CandleInterval =>
  typeof text === 'string' && Object.hasOwn(CANDLE_INTERVALS_SEC, text)
