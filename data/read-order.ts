import type { Database } from 'better-sqlite3'
import type { StoredOrder } from './read-model.js'
import { ORDER_COLUMNS, storedOrderOf } from './stored-order.js'
import type { OrderRow } from './stored-order.js'

/** The query behind readOrder. */
export const ORDER_SQL = `
  SELECT ${ORDER_COLUMNS}
  FROM orders JOIN order_progress AS progress USING (order_key)
  WHERE order_id = ?`

/** One order by its id, undefined when none of that id is projected. */
export function createReadOrder(db: Database): (orderId: string) => StoredOrder | undefined {
  const select = db.prepare<[string], OrderRow>(ORDER_SQL).safeIntegers(false)
  return (orderId) => {
    const row = select.get(orderId)
    return row && storedOrderOf(row)
  }
}
