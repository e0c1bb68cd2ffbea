import type { Database } from 'better-sqlite3'
import { priceE18 } from '../core/money.js'
import type { PriceE18 } from '../core/money.js'
import type { Side } from '../core/order.js'
import type { OpenOrder } from '../core/records/book-record.js'
import { ORDER_COLUMNS, orderOf, progressOf } from './stored-order.js'
import type { OrderRow } from './stored-order.js'

/** Conditions and order are those of the partial indexes, or the indexes would not serve. */
const BIDS = `WHERE progress.market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND side = 'buy' AND open <> '0'
  ORDER BY length(limit_price) DESC, limit_price DESC, rank
  LIMIT ?`
const ASKS = `WHERE progress.market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND side = 'sell' AND open <> '0'
  ORDER BY length(limit_price), limit_price, rank
  LIMIT ?`

/** The queries behind openOrders, by side; best order first. */
export const OPEN_ORDERS_SQL = {
  buy: `SELECT ${ORDER_COLUMNS} FROM order_progress AS progress JOIN orders USING (order_key) ${BIDS}`,
  sell: `SELECT ${ORDER_COLUMNS} FROM order_progress AS progress JOIN orders USING (order_key) ${ASKS}`,
}

/** The queries behind bestPrices. */
export const BEST_PRICE_SQL = {
  buy: `SELECT limit_price FROM order_progress AS progress ${BIDS}`,
  sell: `SELECT limit_price FROM order_progress AS progress ${ASKS}`,
}

/** To SQLite: no limit. */
const ALL = -1

/**
 * A market's orders that can be hit, bids and then asks, best first; `depth` keeps that many of each. Empty for a
 * market that is not projected.
 */
export function createReadOpenOrders(db: Database) {
  const select = (side: Side) =>
    db.prepare<[string, number], OrderRow>(OPEN_ORDERS_SQL[side]).safeIntegers(false)
  const sides = [select('buy'), select('sell')]
  return (market: string, depth = ALL): OpenOrder[] =>
    sides
      .flatMap((side) => side.all(market, depth))
      .map((row) => ({ order: orderOf(row), progress: progressOf(row), rank: row.rank }))
}

/** The highest price somebody buys at and the lowest somebody sells at; absent where nobody does. */
export interface BestPrices {
  readonly bid?: PriceE18
  readonly ask?: PriceE18
}

/** Costs the same however large the book is. */
export function createReadBestPrices(db: Database): (market: string) => BestPrices {
  const select = (side: Side) => db.prepare<[string, number], string>(BEST_PRICE_SQL[side]).pluck()
  const bids = select('buy')
  const asks = select('sell')
  return (market) => {
    const [bid, ask] = [bids.get(market, 1), asks.get(market, 1)]
    return {
      ...(bid === undefined ? {} : { bid: priceE18(BigInt(bid)) }),
      ...(ask === undefined ? {} : { ask: priceE18(BigInt(ask)) }),
    }
  }
}
