import type { Database } from 'better-sqlite3'
import type { Block } from '../core/change.js'

/** How long an order that was cancelled or expired without a fill is kept, from its end on, in the market's time. */
export const RETENTION_MS = 30 * 86_400_000
/** More orders than a change can end, so that what is due is worked off; few, so that a block stays cheap. */
export const FORGOTTEN_PER_CHANGE = 4

/** The orders of a market that ended without a fill, longest gone first; the conditions are the index's own. */
export const LEAVING_SQL = `
  SELECT order_key FROM order_progress
  WHERE market_id = ? AND ended_at_ms <= ?
    AND ended_at_ms IS NOT NULL AND filled_quote IS NULL AND pending = '0'
  ORDER BY ended_at_ms, order_key
  LIMIT ?`

/**
 * Lets go of orders whose time is over as of a block's last change. How many follows from the block alone, so that the
 * same feed always leaves the same rows, however its blocks were grouped into transactions.
 */
export function createForgetOrders(db: Database): (ordinal: number, block: Block) => void {
  const selectLeaving = db
    .prepare<[number, number, number], number>(LEAVING_SQL)
    .pluck()
    .safeIntegers(false)
  const deleteProgress = db.prepare<[number]>('DELETE FROM order_progress WHERE order_key = ?')
  const deleteOrder = db.prepare<[number]>('DELETE FROM orders WHERE order_key = ?')
  return (ordinal, { changes }) => {
    const last = changes.at(-1)
    if (last === undefined) return
    const limit = changes.length * FORGOTTEN_PER_CHANGE
    for (const key of selectLeaving.all(ordinal, last.atMs - RETENTION_MS, limit)) {
      deleteProgress.run(key)
      deleteOrder.run(key)
    }
  }
}
