import type { Database } from 'better-sqlite3'
import { amountE18, notionalFloor, priceE18, quoteE18 } from '../core/money.js'
import type { TradeStats } from '../core/records/trade-record.js'
import { bucketStartSec } from './write-candles.js'

const DAY_MS = 86_400_000
const MINUTE_SEC = 60
const HOUR_SEC = 3600

/** Candles of one width in [from, to), in order; the cost of a call is at most an hour of minutes and a day of hours. */
export const CANDLES_SQL = `
  SELECT open, high, low, close, volume, quote_volume AS quoteVolume
  FROM candles
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND width_sec = ? AND start_sec >= ? AND start_sec < ?
  ORDER BY start_sec`

/** The trades of one minute later than an instant: where the window's start cuts through a candle. */
export const EDGE_TRADES_SQL = `
  SELECT price, amount
  FROM candles JOIN trades ON trades.market_id = candles.market_id
    AND trade_id BETWEEN first_trade_id AND last_trade_id
  WHERE candles.market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND width_sec = 60 AND start_sec = ? AND at_ms > ?
    AND reversed_at_ms IS NULL
  ORDER BY trade_id`

type CandleRow = Readonly<
  Record<'open' | 'high' | 'low' | 'close' | 'volume' | 'quoteVolume', string>
>

/**
 * Exact statistics of the trades later than 24 h before `nowMs`; undefined when there were none. Nothing is cut off at
 * `nowMs`, because the market's time may be a little ahead of the asker's clock.
 */
export function createReadStats24h(db: Database) {
  const selectCandles = db.prepare<[string, number, number, number], CandleRow>(CANDLES_SQL)
  const selectEdge = db.prepare<[string, number, number], { price: string; amount: string }>(
    EDGE_TRADES_SQL,
  )
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
    return parts.reduce<TradeStats | undefined>(join, undefined)
  })
}

function partOfTrade(row: { readonly price: string; readonly amount: string }): TradeStats {
  const price = priceE18(BigInt(row.price))
  const amount = amountE18(BigInt(row.amount))
  return {
    first: price,
    last: price,
    high: price,
    low: price,
    volume: amount,
    quoteVolume: notionalFloor(price, amount),
  }
}

function partOfCandle(row: CandleRow): TradeStats {
  return {
    first: priceE18(BigInt(row.open)),
    last: priceE18(BigInt(row.close)),
    high: priceE18(BigInt(row.high)),
    low: priceE18(BigInt(row.low)),
    volume: amountE18(BigInt(row.volume)),
    quoteVolume: quoteE18(BigInt(row.quoteVolume)),
  }
}

/** Statistics of two spans of time of which the first is the earlier. */
function join(earlier: TradeStats | undefined, later: TradeStats): TradeStats {
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
