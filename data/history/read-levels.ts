import type { Database } from 'better-sqlite3'
import type { Side } from '../../core/engine/order.js'
import { amountE18, priceE18, type AmountE18, type PriceE18 } from '../../core/money.js'
import type { BookLevels, PriceLevel } from '../../core/records/listing-record.js'
import { ASKS, BIDS } from './read-orders.js'

/** More orders of a side are not added up: it bounds the time of a read. */
export const LEVEL_ORDERS_MAX = 10_000

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
  const [bids, asks] = [select('buy'), select('sell')]
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
