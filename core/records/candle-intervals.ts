import type { CandleInterval } from '../../interface/trade.js'

/** The intervals of `GET /v1/candles`, in seconds. */
export const CANDLE_INTERVALS_SEC = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
} as const satisfies Readonly<Record<CandleInterval, number>>
