import type { Database } from 'better-sqlite3'
import type { Block, Change } from '../core/change.js'

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

/** When the first of them ended. */
const FIRST_LEAVING_SQL = `
  SELECT ended_at_ms FROM order_progress
  WHERE market_id = ? AND ended_at_ms IS NOT NULL AND filled_quote IS NULL AND pending = '0'
  ORDER BY ended_at_ms
  LIMIT 1`

/** Lets orders go whose time is over; must run inside a transaction. */
export interface ForgetOrders {
  /** Before the first block of a transaction: one that failed may have left what is not true. */
  begin(): void
  /**
   * Lets go of orders whose time is over as of the block's last change, once the block is written. How many follows from
   * the block alone, so that the same feed always leaves the same rows, however its blocks were grouped into transactions.
   */
  after(ordinal: number, block: Block): void
}

export function createForgetOrders(db: Database): ForgetOrders {
  const leaving = db.prepare<[number, number, number], number>(LEAVING_SQL).pluck()
  const selectLeaving = leaving.safeIntegers(false)
  const first = db.prepare<[number], number>(FIRST_LEAVING_SQL).pluck()
  const selectFirst = first.safeIntegers(false)
  const deleteProgress = db.prepare<[number]>('DELETE FROM order_progress WHERE order_key = ?')
  const deleteOrder = db.prepare<[number]>('DELETE FROM orders WHERE order_key = ?')
  /** By market, a time before which no order has ended that could leave: nearly every block is through with a comparison. */
  const noneBeforeMs = new Map<number, number>()

  const forget = (ordinal: number, endedByMs: number, limit: number): void => {
    for (const key of selectLeaving.all(ordinal, endedByMs, limit)) {
      deleteProgress.run(key)
      deleteOrder.run(key)
    }
    noneBeforeMs.set(ordinal, selectFirst.get(ordinal) ?? Infinity)
  }
  return {
    begin: () => noneBeforeMs.clear(),
    after(ordinal, { changes }) {
      const last = changes.at(-1)
      if (last === undefined) return
      const endedByMs = last.atMs - RETENTION_MS
      const known = noneBeforeMs.get(ordinal)
      if (known !== undefined && !changes.some(isOfAnEarlierEnd)) {
        const firstMs = changes.reduce((least, { atMs }) => Math.min(least, atMs), known)
        noneBeforeMs.set(ordinal, firstMs)
        if (endedByMs < firstMs) return
      }
      forget(ordinal, endedByMs, changes.length * FORGOTTEN_PER_CHANGE)
    },
  }
}

/** A match that is undone may have been all that kept an order which had ended before. */
const isOfAnEarlierEnd = ({ kind }: Change): boolean =>
  kind === 'MatchReverted' || kind === 'FillReversed'
