import type { Database } from 'better-sqlite3'
import { CANDLE_INTERVALS_SEC } from '../core/candles.js'
import { notionalFloor } from '../core/money.js'
import type { AmountE18, PriceE18 } from '../core/money.js'

/** Widths of the stored candles: one for each interval of the interface, so that no read has to add any up. */
export const CANDLE_WIDTHS_SEC = Object.values(CANDLE_INTERVALS_SEC)

/** What a candle takes from a trade. */
export interface CandleTrade {
  readonly atMs: number
  readonly tradeId: number
  readonly price: PriceE18
  readonly amount: AmountE18
}

export interface CandleWriter {
  /** Forgets what an abandoned transaction had added. */
  begin(): void
  /** Adds a trade of the market with this ordinal; trades come in the order of the market's log. */
  add(ordinal: number, trade: CandleTrade): void
  /** Writes the candles touched since begin, which is once for each however many trades they took. */
  flush(): void
}

interface CandleKey {
  readonly marketId: number
  readonly widthSec: number
  readonly startSec: number
}

interface Candle extends CandleKey {
  readonly open: bigint
  high: bigint
  low: bigint
  close: bigint
  volume: bigint
  quoteVolume: bigint
  tradeCount: number
  readonly firstTradeId: number
  lastTradeId: number
}

/** Sums trades into candles; bounded by the candles that one transaction touches. */
export function createCandleWriter(db: Database): CandleWriter {
  const touched = new Map<string, Candle>()
  const load = createLoadCandle(db)
  const save = createSaveCandle(db)
  return {
    begin: () => touched.clear(),
    add(marketId, trade) {
      for (const widthSec of CANDLE_WIDTHS_SEC) {
        const key = { marketId, widthSec, startSec: bucketStartSec(trade.atMs, widthSec) }
        const name = `${marketId}/${widthSec}/${key.startSec}`
        const candle = touched.get(name) ?? load(key) ?? emptyCandle(key, trade)
        addTrade(candle, trade)
        touched.set(name, candle)
      }
    },
    flush() {
      for (const candle of touched.values()) save(candle)
      touched.clear()
    },
  }
}

/** Start of the epoch-aligned bucket that holds this millisecond, in unix seconds. */
export function bucketStartSec(atMs: number, widthSec: number): number {
  const widthMs = widthSec * 1000
  return (atMs - (atMs % widthMs)) / 1000
}

function emptyCandle(key: CandleKey, { price, tradeId }: CandleTrade): Candle {
  return {
    ...key,
    open: price,
    high: price,
    low: price,
    close: price,
    volume: 0n,
    quoteVolume: 0n,
    tradeCount: 0,
    firstTradeId: tradeId,
    lastTradeId: tradeId,
  }
}

function addTrade(candle: Candle, { price, amount, tradeId }: CandleTrade): void {
  if (price > candle.high) candle.high = price
  if (price < candle.low) candle.low = price
  candle.close = price
  candle.volume += amount
  candle.quoteVolume += notionalFloor(price, amount)
  candle.tradeCount += 1
  candle.lastTradeId = tradeId
}

type CandleRow = Readonly<
  Record<'open' | 'high' | 'low' | 'close' | 'volume' | 'quoteVolume', string> &
    Record<'tradeCount' | 'firstTradeId' | 'lastTradeId', number>
>

function createLoadCandle(db: Database) {
  const select = db
    .prepare<[number, number, number], CandleRow>(
      `SELECT open, high, low, close, volume, quote_volume AS quoteVolume, trade_count AS tradeCount,
         first_trade_id AS firstTradeId, last_trade_id AS lastTradeId
       FROM candles WHERE market_id = ? AND width_sec = ? AND start_sec = ?`,
    )
    .safeIntegers(false)
  return (key: CandleKey): Candle | undefined => {
    const row = select.get(key.marketId, key.widthSec, key.startSec)
    if (row === undefined) return undefined
    return {
      ...key,
      ...row,
      open: BigInt(row.open),
      high: BigInt(row.high),
      low: BigInt(row.low),
      close: BigInt(row.close),
      volume: BigInt(row.volume),
      quoteVolume: BigInt(row.quoteVolume),
    }
  }
}

function createSaveCandle(db: Database) {
  const upsert = db.prepare(
    `INSERT INTO candles (market_id, width_sec, start_sec, open, high, low, close, volume, quote_volume,
       trade_count, first_trade_id, last_trade_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET high = excluded.high, low = excluded.low, close = excluded.close,
       volume = excluded.volume, quote_volume = excluded.quote_volume,
       trade_count = excluded.trade_count, last_trade_id = excluded.last_trade_id`,
  )
  return (candle: Candle): void => {
    const { open, high, low, close, volume, quoteVolume } = candle
    upsert.run(
      ...[candle.marketId, candle.widthSec, candle.startSec],
      ...[open, high, low, close, volume, quoteVolume].map(String),
      ...[candle.tradeCount, candle.firstTradeId, candle.lastTradeId],
    )
  }
}
