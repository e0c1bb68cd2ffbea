import type { Database } from 'better-sqlite3'
import type { StoredOrder } from './read-model.js'
import { orderOf, progressOf } from './stored-order.js'
import type { OrderRow } from './stored-order.js'

/** The query behind readOrder. */
export const ORDER_SQL = `
  SELECT body, rank, created_at_ms AS createdAtMs, status, filled, pending, open,
    updated_at_ms AS updatedAtMs, cancel_reason AS cancelReason, cancelled_at_ms AS cancelledAtMs
  FROM orders JOIN order_progress USING (order_key)
  WHERE order_id = ?`

/** One order by its id, undefined when none of that id is projected. */
export function createReadOrder(db: Database): (orderId: string) => StoredOrder | undefined {
  const select = db.prepare<[string], OrderRow>(ORDER_SQL).safeIntegers(false)
  return (orderId) => {
    const row = select.get(orderId)
    return row && { order: orderOf(row), progress: progressOf(row) }
  }
}
