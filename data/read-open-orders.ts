import type { Database } from 'better-sqlite3'
import type { OpenOrder } from '../core/records/book-record.js'
import { orderOf, progressOf } from './stored-order.js'
import type { OrderRow } from './stored-order.js'

/** The query behind openOrders; its last condition is the partial index's own, or the index would not serve. */
export const OPEN_ORDERS_SQL = `
  SELECT body, rank, created_at_ms AS createdAtMs, status, filled, pending, open,
    updated_at_ms AS updatedAtMs, cancel_reason AS cancelReason, cancelled_at_ms AS cancelledAtMs
  FROM order_progress AS progress JOIN orders USING (order_key)
  WHERE progress.market_id = (SELECT market_id FROM markets WHERE market = ?) AND open <> '0'`

/** A market's orders that can be hit, in no particular order; empty for a market that is not projected. */
export function createReadOpenOrders(db: Database): (market: string) => OpenOrder[] {
  const select = db.prepare<[string], OrderRow>(OPEN_ORDERS_SQL).safeIntegers(false)
  return (market) =>
    select
      .all(market)
      .map((row) => ({ order: orderOf(row), progress: progressOf(row), rank: row.rank }))
}
