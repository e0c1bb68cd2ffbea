import type { Database } from 'better-sqlite3'
import { assert } from '../../core/assert.js'
import type { PricesAt } from '../../core/contracts/contract.js'
import { contractOf } from '../../core/contracts/registry.js'
import { bucketStartSec } from '../../core/market-data/candle-series.js'
import type { Market } from '../../core/model/market.js'
import type { MarketObservation } from '../../core/model/observation.js'
import { createReadMarks, createReadRates } from './read-prices.js'

const MINUTE_SEC = 60
const HOUR_SEC = 3_600
const DAY_SEC = 86_400
/** How long marks are kept: at most 129,600 rows of a market. */
export const MARKS_KEPT_SEC = 90 * DAY_SEC
/** How long funding rates are kept: at most 17,520 rows of a market. */
export const RATES_KEPT_SEC = 730 * DAY_SEC

/** The history of prices that a market's observations leave. */
export interface PriceWriter {
  /** The last message of the market's command log that left a row; 0 before the first. */
  position(market: string): number
  /**
   * Keeps the first observation of each minute whose prices differ from the row before, and the first of each hour; and the
   * funding rate of the first of each hour. Rows and position are one transaction. An observation of an earlier block than a row is skipped,
   * so that observations may be repeated. The market must be projected.
   */
  write(market: ObservedMarket, streamSeq: number, observation: MarketObservation): void
}

export type ObservedMarket = Pick<Market, 'market' | 'contractType'>

interface Last {
  readonly marketId: number
  mark: { readonly startSec: number; readonly mark: bigint; readonly index?: bigint } | undefined
  rateStartSec: number
}

export function createPriceWriter(db: Database): PriceWriter {
  const selectCursor = db
    .prepare<[string], number>(
      `SELECT stream_seq FROM price_cursors
       WHERE market_id = (SELECT market_id FROM markets WHERE market = ?)`,
    )
    .pluck()
    .safeIntegers(false)
  const moveCursor = db.prepare(
    `INSERT INTO price_cursors (market_id, stream_seq) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET stream_seq = excluded.stream_seq`,
  )
  const insert = createInserts(db)
  const loadLast = createLoadLast(db)
  // One entry for each market.
  const lasts = new Map<string, Last>()

  const keep = db.transaction((last: Last, streamSeq: number, observed: PriceObservation) => {
    const { minuteSec, hourSec, isRate } = observed
    if (minuteSec !== undefined) insert.mark(last.marketId, minuteSec, observed)
    if (isRate) insert.rate(last.marketId, hourSec, observed)
    moveCursor.run(last.marketId, streamSeq)
  })

  return {
    position: (market) => selectCursor.get(market) ?? 0,
    write(market, streamSeq, observation) {
      const prices = contractOf(market).present.prices?.at(observation.facts)
      if (prices === undefined) return
      const last = lasts.get(market.market) ?? loadLast(market.market)
      lasts.set(market.market, last)
      const observed = whatIsNew(last, prices, observation)
      if (observed.minuteSec === undefined && !observed.isRate) return
      keep.immediate(last, streamSeq, observed)
      if (observed.minuteSec !== undefined) last.mark = { startSec: observed.minuteSec, ...prices }
      if (observed.isRate) last.rateStartSec = observed.hourSec
    },
  }
}

/** An observation, and the rows that it leaves. */
interface PriceObservation {
  readonly prices: PricesAt
  readonly observedSec: number
  readonly blockNumber: bigint
  readonly hourSec: number
  /** Its minute, if it leaves a mark. */
  readonly minuteSec: number | undefined
  readonly isRate: boolean
}

function whatIsNew(
  { mark: last, rateStartSec }: Last,
  prices: PricesAt,
  { blockTimeSec, blockNumber }: MarketObservation,
): PriceObservation {
  const minuteSec = bucketStartSec(blockTimeSec * 1000, MINUTE_SEC)
  const hourSec = bucketStartSec(blockTimeSec * 1000, HOUR_SEC)
  const isMark =
    last === undefined ||
    (minuteSec > last.startSec &&
      (prices.mark !== last.mark || prices.index !== last.index || hourSec > last.startSec))
  return {
    prices,
    blockNumber,
    hourSec,
    observedSec: blockTimeSec,
    minuteSec: isMark ? minuteSec : undefined,
    isRate: prices.fundingRate !== undefined && hourSec > rateStartSec,
  }
}

/** Each removes what is older than is kept. */
function createInserts(db: Database) {
  const insertMark = db.prepare(
    `INSERT INTO mark_prices (market_id, start_sec, observed_sec, block_number, mark, index_price)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const insertRate = db.prepare(
    `INSERT INTO funding_rates (market_id, start_sec, observed_sec, block_number, rate, mark, index_price)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const removeMarks = db.prepare('DELETE FROM mark_prices WHERE market_id = ? AND start_sec < ?')
  const removeRates = db.prepare('DELETE FROM funding_rates WHERE market_id = ? AND start_sec < ?')
  const pricesOf = ({ mark, index }: PricesAt) => [String(mark), index?.toString() ?? null]
  return {
    mark(
      marketId: number,
      startSec: number,
      { observedSec, blockNumber, prices }: PriceObservation,
    ): void {
      insertMark.run(marketId, startSec, observedSec, blockNumber, ...pricesOf(prices))
      removeMarks.run(marketId, startSec - MARKS_KEPT_SEC)
    },
    rate(
      marketId: number,
      startSec: number,
      { observedSec, blockNumber, prices }: PriceObservation,
    ): void {
      const rate = String(prices.fundingRate)
      insertRate.run(marketId, startSec, observedSec, blockNumber, rate, ...pricesOf(prices))
      removeRates.run(marketId, startSec - RATES_KEPT_SEC)
    },
  }
}

function createLoadLast(db: Database): (market: string) => Last {
  const marketIdOf = db
    .prepare<[string], number>('SELECT market_id FROM markets WHERE market = ?')
    .pluck()
    .safeIntegers(false)
  const readMarks = createReadMarks(db)
  const readRates = createReadRates(db)
  return (market) => {
    const marketId = marketIdOf.get(market)
    assert(marketId !== undefined, `${market} is observed and not projected`)
    const [mark] = readMarks(market, { limit: 1 })
    const [rate] = readRates(market, { limit: 1 })
    return { marketId, mark, rateStartSec: rate?.startSec ?? 0 }
  }
}
