import type { Database } from 'better-sqlite3'
import { bucketStartSec, joinStats, statsOfCandle } from '../../core/market-data/candle-series.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'
import { CANDLE_INTERVALS_SEC } from '../../core/records/candle-intervals.js'
import type { Candle, CandleInterval } from '../../core/records/candle-record.js'
import type { TradeStats } from '../../core/records/trade-record.js'

/** Range of candles: the newest `limit` whose bucket starts at or after `fromSec` and before `beforeSec`. */
export interface CandleRange {
  readonly interval: CandleInterval
  readonly limit: number
  /** Unix seconds. */
  readonly fromSec: number
  readonly beforeSec: number
}

/** SQL of `candles`. */
export const CANDLE_PAGE_SQL = `
  SELECT start_sec AS startSec, open, high, low, close, volume, quote_volume AS quoteVolume,
    trade_count AS tradeCount
  FROM candles
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND width_sec = ? AND start_sec >= ? AND start_sec < ?
  ORDER BY start_sec DESC
  LIMIT ?`

type CandleSums = Readonly<
  Record<'open' | 'high' | 'low' | 'close' | 'volume' | 'quoteVolume', string>
>
type CandleRow = CandleSums & Readonly<Record<'startSec' | 'tradeCount', number>>

/** A market's candles, oldest first. The cost grows with the rows returned, not with the trades. */
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

const candleOf = (row: CandleRow): Candle => ({
  startSec: row.startSec,
  ...sumsOf(row),
  tradeCount: row.tradeCount,
})

const sumsOf = (row: CandleSums) => ({
  open: priceE18(BigInt(row.open)),
  high: priceE18(BigInt(row.high)),
  low: priceE18(BigInt(row.low)),
  close: priceE18(BigInt(row.close)),
  volume: amountE18(BigInt(row.volume)),
  quoteVolume: quoteE18(BigInt(row.quoteVolume)),
})

const DAY_MS = 86_400_000
const MINUTE_SEC = 60
const HOUR_SEC = 3600

/**
 * Candles of one width in [from, to), ascending; a call reads at most the minutes of an hour and the hours of a day.
 */
export const CANDLES_SQL = `
  SELECT open, high, low, close, volume, quote_volume AS quoteVolume
  FROM candles
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND width_sec = ? AND start_sec >= ? AND start_sec < ?
  ORDER BY start_sec`

/** The trades of one minute after an instant, for the candle that the start of the window cuts. */
export const EDGE_TRADES_SQL = `
  SELECT price, amount, quote
  FROM candles JOIN trades ON trades.market_id = candles.market_id
    AND trade_id BETWEEN first_trade_id AND last_trade_id
  WHERE candles.market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND width_sec = 60 AND start_sec = ? AND at_ms > ?
    AND reversed_at_ms IS NULL
  ORDER BY trade_id`

type StatisticsRow = Readonly<Record<'price' | 'amount' | 'quote', string>>

/**
 * Exact statistics of the trades later than 24 h before `nowMs`; undefined when there were none. The window has no
 * upper end, because the market's time may be a little ahead of the reader's clock.
 */
export function createReadStats24h(db: Database) {
  const selectCandles = db.prepare<[string, number, number, number], CandleSums>(CANDLES_SQL)
  const selectEdge = db.prepare<[string, number, number], StatisticsRow>(EDGE_TRADES_SQL)
  return db.transaction((market: string, nowMs: number): TradeStats | undefined => {
    const afterMs = nowMs - DAY_MS
    const edgeSec = bucketStartSec(afterMs, MINUTE_SEC)
    const minutesSec = edgeSec + MINUTE_SEC
    const hoursSec = Math.ceil(minutesSec / HOUR_SEC) * HOUR_SEC
    const parts = [
      ...selectEdge.all(market, edgeSec, afterMs).map(partOfTrade),
      ...selectCandles.all(market, MINUTE_SEC, minutesSec, hoursSec).map(partOfCandle),
      ...selectCandles.all(market, HOUR_SEC, hoursSec, Number.MAX_SAFE_INTEGER).map(partOfCandle),
    ]
    return parts.reduce<TradeStats | undefined>(joinStats, undefined)
  })
}

function partOfTrade(row: StatisticsRow): TradeStats {
  const price = priceE18(BigInt(row.price))
  const amount = amountE18(BigInt(row.amount))
  return {
    first: price,
    last: price,
    high: price,
    low: price,
    volume: amount,
    quoteVolume: quoteE18(BigInt(row.quote)),
  }
}

const partOfCandle = (row: CandleSums): TradeStats => statsOfCandle(sumsOf(row))
