import type { Database } from 'better-sqlite3'
import { assert } from '../../core/assert.js'
import {
  addTrade,
  bucketStartSec,
  emptyCandle,
  type CandleTrade,
  type OpenCandle,
} from '../../core/market-data/candle-series.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'
import { CANDLE_INTERVALS_SEC } from '../../core/records/candle-intervals.js'

/** Widths of the stored candles: one for each interval of the interface, so that a read never sums candles. */
export const CANDLE_WIDTHS_SEC = Object.values(CANDLE_INTERVALS_SEC)

/** A trade with its place in the market's log. */
export interface StoredTrade extends CandleTrade {
  readonly atMs: number
  readonly tradeId: number
}

export interface CandleWriter {
  /** Call at the start of a transaction: discards what an aborted transaction had added. */
  begin(): void
  /** Adds a trade of the market with this ordinal; trades come in the order of the market's log. */
  add(ordinal: number, trade: StoredTrade): void
  /** Recomputes the candles that hold this millisecond from the trades that were not reversed. */
  rebuild(ordinal: number, atMs: number): void
  /** Writes each candle touched since `begin` once. */
  flush(): void
}

interface CandleKey {
  readonly marketId: number
  readonly widthSec: number
  readonly startSec: number
}

interface OpenCandleRow extends CandleKey, OpenCandle {
  readonly startSec: number
  firstTradeId: number
  lastTradeId: number
}

/** Sums trades into candles; its memory is bounded by the candles that one transaction touches. */
export function createCandleWriter(db: Database): CandleWriter {
  const touched = new Map<string, OpenCandleRow>()
  const load = createLoadCandle(db)
  const save = createSaveCandle(db)
  const tradesOf = createTradesOfCandle(db)
  const remove = db.prepare(
    'DELETE FROM candles WHERE market_id = ? AND width_sec = ? AND start_sec = ?',
  )
  return {
    begin: () => touched.clear(),
    add(marketId, trade) {
      for (const widthSec of CANDLE_WIDTHS_SEC) {
        const key = { marketId, widthSec, startSec: bucketStartSec(trade.atMs, widthSec) }
        const name = nameOf(key)
        const candle = touched.get(name) ?? load(key) ?? firstCandle(key, trade)
        addStored(candle, trade)
        touched.set(name, candle)
      }
    },
    rebuild(marketId, atMs) {
      for (const widthSec of CANDLE_WIDTHS_SEC) {
        const key = { marketId, widthSec, startSec: bucketStartSec(atMs, widthSec) }
        const name = nameOf(key)
        const before = touched.get(name) ?? load(key)
        assert(before !== undefined, `candle ${name} has lost its trades`)
        const candle = { ...before, ...emptyCandle(key.startSec, before.open) }
        for (const trade of tradesOf(before)) addStored(candle, trade)
        touched.set(name, candle)
      }
    },
    flush() {
      for (const candle of touched.values()) {
        if (candle.tradeCount === 0) remove.run(...keyValues(candle))
        else save(candle)
      }
      touched.clear()
    },
  }
}

const nameOf = ({ marketId, widthSec, startSec }: CandleKey): string =>
  `${marketId}/${widthSec}/${startSec}`

const keyValues = ({ marketId, widthSec, startSec }: CandleKey) =>
  [marketId, widthSec, startSec] as const

/** The trades of a candle that were not reversed, ascending; trade times never decrease within a market. */
function createTradesOfCandle(db: Database) {
  const select = db
    .prepare<[number, number, number], { atMs: number; tradeId: number } & PricedText>(
      `SELECT at_ms AS atMs, trade_id AS tradeId, price, amount, quote FROM trades
       WHERE market_id = ? AND trade_id BETWEEN ? AND ? AND reversed_at_ms IS NULL
       ORDER BY trade_id`,
    )
    .safeIntegers(false)
  return function* ({
    marketId,
    firstTradeId,
    lastTradeId,
  }: OpenCandleRow): Generator<StoredTrade> {
    for (const row of select.iterate(marketId, firstTradeId, lastTradeId)) {
      const { atMs, tradeId } = row
      const price = priceE18(BigInt(row.price))
      const amount = amountE18(BigInt(row.amount))
      yield { atMs, tradeId, price, amount, quote: quoteE18(BigInt(row.quote)) }
    }
  }
}

type PricedText = Readonly<Record<'price' | 'amount' | 'quote', string>>

const firstCandle = (key: CandleKey, { price, tradeId }: StoredTrade): OpenCandleRow => ({
  ...key,
  ...emptyCandle(key.startSec, price),
  firstTradeId: tradeId,
  lastTradeId: tradeId,
})

function addStored(candle: OpenCandleRow, trade: StoredTrade): void {
  if (candle.tradeCount === 0) candle.firstTradeId = trade.tradeId
  addTrade(candle, trade)
  candle.lastTradeId = trade.tradeId
}

type StoredCandle = Readonly<
  Record<'open' | 'high' | 'low' | 'close' | 'volume' | 'quoteVolume', string> &
    Record<'tradeCount' | 'firstTradeId' | 'lastTradeId', number>
>

function createLoadCandle(db: Database) {
  const select = db
    .prepare<[number, number, number], StoredCandle>(
      `SELECT open, high, low, close, volume, quote_volume AS quoteVolume, trade_count AS tradeCount,
         first_trade_id AS firstTradeId, last_trade_id AS lastTradeId
       FROM candles WHERE market_id = ? AND width_sec = ? AND start_sec = ?`,
    )
    .safeIntegers(false)
  return (key: CandleKey): OpenCandleRow | undefined => {
    const row = select.get(key.marketId, key.widthSec, key.startSec)
    if (row === undefined) return undefined
    return {
      ...key,
      ...row,
      open: priceE18(BigInt(row.open)),
      high: priceE18(BigInt(row.high)),
      low: priceE18(BigInt(row.low)),
      close: priceE18(BigInt(row.close)),
      volume: amountE18(BigInt(row.volume)),
      quoteVolume: quoteE18(BigInt(row.quoteVolume)),
    }
  }
}

function createSaveCandle(db: Database) {
  const upsert = db.prepare(
    `INSERT INTO candles (market_id, width_sec, start_sec, open, high, low, close, volume, quote_volume,
       trade_count, first_trade_id, last_trade_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close,
       volume = excluded.volume, quote_volume = excluded.quote_volume,
       trade_count = excluded.trade_count, first_trade_id = excluded.first_trade_id,
       last_trade_id = excluded.last_trade_id`,
  )
  return (candle: OpenCandleRow): void => {
    const { open, high, low, close, volume, quoteVolume } = candle
    upsert.run(
      ...[candle.marketId, candle.widthSec, candle.startSec],
      ...[open, high, low, close, volume, quoteVolume].map(String),
      ...[candle.tradeCount, candle.firstTradeId, candle.lastTradeId],
    )
  }
}
