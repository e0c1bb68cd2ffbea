import type { Database } from 'better-sqlite3'
import { CANDLE_INTERVALS_SEC } from '../../core/records/candle-intervals.js'
import type { Candle, CandleInterval } from '../../core/records/candle-record.js'
import type { Trade } from '../../core/records/trade-record.js'
import { createReadCandles } from './read-candles.js'
import { openForReading } from './read-model.js'
import { createReadMarks, createReadRates, type PriceRow } from './read-prices.js'
import { createReadFirstTradeSince, createReadTradesBetween } from './read-trades.js'

/** A span of time, unix milliseconds, its end not included. */
export interface Span {
  readonly fromMs: number
  readonly endMs: number
}

/**
 * Reads what happened in a span, oldest first, page by page: no read lasts longer than a page, so that the projector's log is never
 * kept from being cut, and no more than a page is in memory. A trade that is reversed meanwhile may be in either state.
 */
export interface SpanReader {
  /** Every market that was ever projected, by identifier. */
  markets(): string[]
  trades(market: string, span: Span): Generator<readonly Trade[]>
  candles(market: string, interval: CandleInterval, span: Span): Generator<readonly Candle[]>
  marks(market: string, span: Span): Generator<readonly PriceRow[]>
  fundingRates(market: string, span: Span): Generator<readonly PriceRow[]>
  close(): void
}

const PAGE = 10_000

/** Opens history.db beside the projector. Throws what `openReadModel` does. */
export function openSpanReader(path: string, page = PAGE): SpanReader {
  const db = openForReading(path)
  const readTrades = createReadTradesBetween(db)
  const firstSince = createReadFirstTradeSince(db)
  const readCandles = createReadCandles(db)
  const readMarks = createReadMarks(db)
  const readRates = createReadRates(db)
  return {
    markets: createReadMarkets(db),
    trades(market, { fromMs, endMs }) {
      const first = firstSince(market, fromMs)
      const next = firstSince(market, endMs)
      if (first === undefined) return pages(page, () => [])
      const beforeTradeId = next ?? Number.MAX_SAFE_INTEGER
      return pages(page, (last?: Trade) => {
        const afterTradeId = last?.fill.tradeId ?? first - 1
        return readTrades(market, { afterTradeId, beforeTradeId, limit: page })
      })
    },
    *candles(market, interval, { fromMs, endMs }) {
      const widthSec = CANDLE_INTERVALS_SEC[interval]
      for (const { fromSec, beforeSec } of parts(fromMs / 1_000, endMs / 1_000, widthSec * page)) {
        yield readCandles(market, { interval, limit: page, fromSec, beforeSec })
      }
    },
    marks: (market, span) => prices(readMarks, market, span, page),
    fundingRates: (market, span) => prices(readRates, market, span, page),
    close: () => void db.close(),
  }
}

/** Pages until one is not full; each begins after the last row of the one before. */
function* pages<Row>(
  page: number,
  read: (last?: Row) => readonly Row[],
): Generator<readonly Row[]> {
  let rows = read()
  while (rows.length > 0) {
    yield rows
    if (rows.length < page) return
    rows = read(rows.at(-1))
  }
}

/** A row of prices begins a minute at least. */
const PRICE_WIDTH_SEC = 60

function* prices(
  read: ReturnType<typeof createReadMarks>,
  market: string,
  { fromMs, endMs }: Span,
  page: number,
): Generator<readonly PriceRow[]> {
  const width = PRICE_WIDTH_SEC * page
  for (const { fromSec, beforeSec } of parts(fromMs / 1_000, endMs / 1_000, width)) {
    yield read(market, { limit: page, fromSec, beforeSec }).toReversed()
  }
}

/** A span of whole seconds in parts of at most so many. */
function* parts(fromSec: number, endSec: number, widthSec: number) {
  for (let at = fromSec; at < endSec; at += widthSec) {
    yield { fromSec: at, beforeSec: Math.min(at + widthSec, endSec) }
  }
}

function createReadMarkets(db: Database): () => string[] {
  const select = db.prepare<[], string>('SELECT market FROM markets ORDER BY market').pluck()
  return () => select.all()
}
