import type { Database } from 'better-sqlite3'
import type { Address } from '../core/action.js'
import { blobOf } from './bytes.js'
import { boundsOf } from './history-page.js'
import type { HistoryPage, HistoryPosition } from './history-page.js'
import type { StoredOrder } from './read-model.js'
import { ORDER_COLUMNS, storedOrderOf } from './stored-order.js'
import type { OrderRow } from './stored-order.js'

/** An order of somebody's history, and where the next page goes on after it. */
export interface HistoryOrder extends StoredOrder {
  readonly position: HistoryPosition
}

/** The query behind orderHistory: the page's rows through the owner's index, then where they stand by key. */
export const ORDER_HISTORY_SQL = `
  SELECT order_key AS orderKey, ${ORDER_COLUMNS}
  FROM orders JOIN order_progress AS progress USING (order_key)
  WHERE owner = ? AND (created_at_ms, order_key) < (?, ?)
  ORDER BY created_at_ms DESC, order_key DESC
  LIMIT ?`

/** An owner's orders, newest first. Costs the page, however far back it lies. */
export function createReadOrderHistory(db: Database) {
  const select = db
    .prepare<[Buffer, number, number, number], OrderRow & { orderKey: number }>(ORDER_HISTORY_SQL)
    .safeIntegers(false)
  return (owner: Address, page: HistoryPage): HistoryOrder[] =>
    select.all(blobOf(owner), ...boundsOf(page), page.limit).map((row) => ({
      ...storedOrderOf(row),
      position: { atMs: row.createdAtMs, key: row.orderKey },
    }))
}
