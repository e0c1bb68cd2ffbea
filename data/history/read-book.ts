import type { Database } from 'better-sqlite3'
import { assert } from '../../core/assert.js'
import type { Side } from '../../core/model/order.js'
import { amountE18, priceE18, type AmountE18, type PriceE18 } from '../../core/money.js'
import type { BookLevels, PriceLevel } from '../../core/records/listing-record.js'
import type { OpenOrder } from '../../core/records/order-record.js'
import {
  ASKS,
  BIDS,
  createReadLastTradeSec,
  createReadProjectedSeq,
  ORDER_COLUMNS,
  storedOrderOf,
  type OrderRow,
} from './read-orders.js'

/** The visible book of a market in one state of the projection. */
export interface BookState {
  /** Highest feed `seq` that it includes. */
  readonly seq: number
  /** Unix seconds of the newest fill; absent before the first. */
  readonly lastTradeSec: number | undefined
  /** Best first. */
  readonly bids: readonly OpenOrderRow[]
  readonly asks: readonly OpenOrderRow[]
}

/** An open order of a book. */
export interface OpenOrderRow {
  /** Names the order for ever. */
  readonly key: number
  /** The `seq` of its last change: with the same one the order reads the same. */
  readonly updatedSeq: number
  /** Absent when the reader knows this state of the order. */
  readonly open?: OpenOrder
}

/** Whether the reader knows the order in the state after this change. */
export type IsKnown = (key: number, updatedSeq: number) => boolean

/** To SQLite: no limit. */
const ALL = -1

/**
 * Reads a market's whole book in one transaction; the contents only of orders that the reader does not know. Empty for a
 * market that is not projected.
 */
export function createReadBook(db: Database): (market: string, isKnown: IsKnown) => BookState {
  const projectedSeq = createReadProjectedSeq(db)
  const lastTradeSec = createReadLastTradeSec(db)
  const bids = createReadSide(db, BIDS)
  const asks = createReadSide(db, ASKS)
  const select = db
    .prepare<[number], OrderRow>(
      `SELECT ${ORDER_COLUMNS} FROM order_progress AS progress JOIN orders USING (order_key)
       WHERE progress.order_key = ?`,
    )
    .safeIntegers(false)
  const withContents = (row: OpenOrderRow, isKnown: IsKnown): OpenOrderRow => {
    const found = isKnown(row.key, row.updatedSeq) ? undefined : select.get(row.key)
    if (found === undefined) return row
    const open = { ...storedOrderOf(found), rank: found.rank }
    return { ...row, open }
  }
  return db.transaction((market: string, isKnown: IsKnown): BookState => {
    const rowsOf = (side: typeof bids) => side(market).map((row) => withContents(row, isKnown))
    return {
      seq: projectedSeq(market),
      lastTradeSec: lastTradeSec(market),
      bids: rowsOf(bids),
      asks: rowsOf(asks),
    }
  })
}

/** Levels of a market and the number of the newest change that they include. */
export type LevelsNow = BookLevels & { readonly seq: number }

/**
 * The best levels of a market and the number of its newest change, in one state of the projection. However many ask, a state is
 * read once at each depth: keeps one answer by market and depth, of markets and depths that the venue has.
 */
export function createReadLevelsNow(db: Database) {
  const levels = createReadLevels(db)
  const projectedSeq = createReadProjectedSeq(db)
  const newest = new Map<string, LevelsNow>()
  return db.transaction((market: string, depth: number): LevelsNow => {
    const key = `${market} ${depth}`
    const seq = projectedSeq(market)
    const kept = newest.get(key)
    if (kept?.seq === seq) return kept
    const read = { seq, ...levels(market, depth) }
    newest.set(key, read)
    return read
  })
}

/** A statement for each column: SQLite gives a list of numbers four times as fast as a list of objects. */
function createReadSide(db: Database, side: string): (market: string) => OpenOrderRow[] {
  const read = (column: 'order_key' | 'updated_seq') =>
    db
      .prepare<[string, number], number>(`SELECT ${column} FROM order_progress AS progress ${side}`)
      .pluck()
      .safeIntegers(false)
  const keys = read('order_key')
  const seqs = read('updated_seq')
  return (market) => {
    const updatedSeqs = seqs.all(market, ALL)
    return keys.all(market, ALL).map((key, index) => {
      const updatedSeq = updatedSeqs[index]
      assert(updatedSeq !== undefined, 'one transaction reads one state of the book')
      return { key, updatedSeq }
    })
  }
}

/** More orders of a side are not added up: it bounds the time of a read. */
const LEVEL_ORDERS_MAX = 10_000

const COLUMNS = 'SELECT limit_price AS price, open FROM order_progress AS progress'

/** SQL of readLevels, by side; best order first. */
export const LEVELS_SQL = { buy: `${COLUMNS} ${BIDS}`, sell: `${COLUMNS} ${ASKS}` }

interface LevelRow {
  readonly price: string
  readonly open: string
}

/**
 * The best `depth` price levels of each side, of at most LEVEL_ORDERS_MAX orders of it. Empty for a market that is not
 * projected.
 */
export function createReadLevels(db: Database): (market: string, depth: number) => BookLevels {
  const select = (side: Side) => db.prepare<[string, number], LevelRow>(LEVELS_SQL[side])
  const bids = select('buy')
  const asks = select('sell')
  const levels = (rows: Iterable<LevelRow>, depth: number): PriceLevel[] => {
    // Rows come best first: a map keeps that order.
    const open = new Map<PriceE18, AmountE18>()
    for (const row of rows) {
      const price = priceE18(BigInt(row.price))
      if (!open.has(price) && open.size === depth) break
      open.set(price, amountE18((open.get(price) ?? 0n) + BigInt(row.open)))
    }
    return [...open].map(([price, amount]) => ({ price, open: amount }))
  }
  return (market, depth) => ({
    bids: levels(bids.iterate(market, LEVEL_ORDERS_MAX), depth),
    asks: levels(asks.iterate(market, LEVEL_ORDERS_MAX), depth),
  })
}
