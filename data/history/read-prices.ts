import type { Database } from 'better-sqlite3'
import { priceE18 } from '../../core/money.js'
import type { ObservedPrices } from '../../core/records/market-data.js'

/** Prices of a market as the chain showed them in one block. */
export interface PriceRow extends ObservedPrices {
  /** Start of the minute, or of the hour, of the row, in unix seconds. */
  readonly startSec: number
}

/** The newest `limit` rows before a start, in unix seconds, when given. */
export interface PricePage {
  readonly limit: number
  readonly beforeSec?: number
  /** Only rows from this start on. */
  readonly fromSec?: number
}

/** SQL of readMarks. */
export const MARKS_SQL = `
  SELECT start_sec AS startSec, observed_sec AS observedSec, block_number AS blockNumber, mark,
    index_price AS indexPrice, NULL AS rate
  FROM mark_prices
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?) AND start_sec < ?
    AND start_sec >= ?
  ORDER BY start_sec DESC
  LIMIT ?`

/** SQL of readRates. */
export const RATES_SQL = `
  SELECT start_sec AS startSec, observed_sec AS observedSec, block_number AS blockNumber, mark,
    index_price AS indexPrice, rate
  FROM funding_rates
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?) AND start_sec < ?
    AND start_sec >= ?
  ORDER BY start_sec DESC
  LIMIT ?`

interface StoredPriceRow {
  readonly startSec: number
  readonly observedSec: number
  readonly blockNumber: number
  readonly mark: string
  readonly indexPrice: string | null
  readonly rate: string | null
}

/** A market's marks, newest first. */
export const createReadMarks = (db: Database) => createRead(db, MARKS_SQL)

/** A market's funding rates, newest first. */
export const createReadRates = (db: Database) => createRead(db, RATES_SQL)

function createRead(db: Database, sql: string) {
  const select = db
    .prepare<[string, number, number, number], StoredPriceRow>(sql)
    .safeIntegers(false)
  return (market: string, { limit, beforeSec, fromSec }: PricePage): PriceRow[] => {
    const before = beforeSec ?? Number.MAX_SAFE_INTEGER
    const from = fromSec ?? 0
    return select.all(market, before, from, limit).map(rowOf)
  }
}

function rowOf({
  startSec,
  observedSec,
  blockNumber,
  mark,
  indexPrice,
  rate,
}: StoredPriceRow): PriceRow {
  return {
    startSec,
    observedSec,
    blockNumber,
    mark: priceE18(BigInt(mark)),
    ...(indexPrice === null ? {} : { index: priceE18(BigInt(indexPrice)) }),
    ...(rate === null ? {} : { fundingRate: BigInt(rate) }),
  }
}
