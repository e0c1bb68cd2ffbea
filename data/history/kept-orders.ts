import type { Database } from 'better-sqlite3'
import { RETENTION_MS, type ProjectedPosition } from './project.js'

/** What the read model keeps of orders: the archive of the feeds keeps the same. */
export interface KeptOrders {
  /** Up to where the market is projected. */
  position(market: string): ProjectedPosition
  /** `forgotten` is an order that was projected and is deleted; `unfilled` may still be. */
  standing(orderId: string): 'filled' | 'unfilled' | 'forgotten'
  /** Whether an order of the market is due to be deleted at that unix millisecond and is not deleted yet. */
  isBehind(market: string, nowMs: number): boolean
}

/** Reads an open database of the history schema. */
export function createKeptOrders(db: Database): KeptOrders {
  const position = db
    .prepare<[string], ProjectedPosition>(
      'SELECT stream_seq AS streamSeq, feed_seq AS feedSeq FROM markets WHERE market = ?',
    )
    .safeIntegers(false)
  const hasFill = db
    .prepare<[string], number>(
      `SELECT filled_quote IS NOT NULL FROM orders JOIN order_progress USING (order_key)
       WHERE order_id = ?`,
    )
    .pluck()
    .safeIntegers(false)
  // The conditions repeat those of the partial index.
  const due = db.prepare<[string, number]>(
    `SELECT 1 FROM order_progress
     WHERE market_id = (SELECT market_id FROM markets WHERE market = ?) AND ended_at_ms <= ?
       AND ended_at_ms IS NOT NULL AND filled_quote IS NULL AND pending = '0'
     LIMIT 1`,
  )
  return {
    position: (market) => position.get(market) ?? { streamSeq: 0, feedSeq: 0 },
    standing(orderId) {
      const filled = hasFill.get(orderId)
      if (filled === undefined) return 'forgotten'
      return filled === 1 ? 'filled' : 'unfilled'
    },
    isBehind: (market, nowMs) => due.get(market, nowMs - RETENTION_MS) !== undefined,
  }
}
