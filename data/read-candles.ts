import type { Database } from 'better-sqlite3'
import { CANDLE_INTERVALS_SEC } from '../core/candles.js'
import type { Candle, CandleInterval } from '../core/candles.js'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'

/** Which candles: the newest `limit` whose bucket starts at or after `fromSec` and before `beforeSec`. */
export interface CandleRange {
  readonly interval: CandleInterval
  readonly limit: number
  /** Unix seconds. */
  readonly fromSec: number
  readonly beforeSec: number
}

/** The query behind candles. */
export const CANDLE_PAGE_SQL = `
  SELECT start_sec AS startSec, open, high, low, close, volume, quote_volume AS quoteVolume,
    trade_count AS tradeCount
  FROM candles
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND width_sec = ? AND start_sec >= ? AND start_sec < ?
  ORDER BY start_sec DESC
  LIMIT ?`

type CandleRow = Readonly<
  Record<'open' | 'high' | 'low' | 'close' | 'volume' | 'quoteVolume', string> &
    Record<'startSec' | 'tradeCount', number>
>

/** A market's candles, oldest first. Costs what is returned, whatever was traded. */
export function createReadCandles(db: Database) {
  const select = db
    .prepare<[string, number, number, number, number], CandleRow>(CANDLE_PAGE_SQL)
    .safeIntegers(false)
  return (market: string, { interval, limit, fromSec, beforeSec }: CandleRange): Candle[] =>
    select
      .all(market, CANDLE_INTERVALS_SEC[interval], fromSec, beforeSec, limit)
      .reverse()
      .map(candleOf)
}

function candleOf(row: CandleRow): Candle {
  return {
    startSec: row.startSec,
    open: priceE18(BigInt(row.open)),
    high: priceE18(BigInt(row.high)),
    low: priceE18(BigInt(row.low)),
    close: priceE18(BigInt(row.close)),
    volume: amountE18(BigInt(row.volume)),
    quoteVolume: quoteE18(BigInt(row.quoteVolume)),
    tradeCount: row.tradeCount,
  }
}
