import type { Database } from 'better-sqlite3'
import type { Change } from '../../core/model/change.js'
import type { HoldReason } from '../../core/model/hold.js'
import { logKey } from '../row-values.js'

/** Most events that are kept of an order; the oldest are deleted first. */
export const ORDER_EVENTS_MAX = 100

/** Holds of moments, which say nothing about the order; their rows would be as many as the orders. */
const MOMENTARY: ReadonlySet<HoldReason> = new Set<HoldReason>(['continuing', 'expiring'])

/** Writes the events of an order's life that its newest state does not show; must run inside a transaction. */
export function createEventWriter(
  db: Database,
): (ordinal: number, key: number, change: Change) => void {
  const insert = db.prepare(
    `INSERT INTO order_events (order_key, event_key, at_ms, kind, held_reason, settlement_id, revert, trade_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const trim = db.prepare(
    `DELETE FROM order_events WHERE order_key = ? AND event_key <=
       (SELECT event_key FROM order_events WHERE order_key = ? ORDER BY event_key DESC LIMIT 1 OFFSET ?)`,
  )
  return (ordinal, key, change) => {
    const event = eventOf(change)
    if (event === undefined) return
    const { kind, hold, settlementId, revert, tradeId } = event
    const { seq, atMs } = change
    insert.run(
      ...[key, logKey(seq, ordinal), atMs, kind],
      ...[hold ?? null, settlementId ?? null, revert ?? null, tradeId ?? null],
    )
    trim.run(key, key, ORDER_EVENTS_MAX)
  }
}

/** What is kept of a change. */
interface KeptEvent {
  readonly kind: 'held' | 'released' | 'refused' | 'reversed'
  readonly hold?: HoldReason | undefined
  readonly settlementId?: string
  readonly revert?: string
  readonly tradeId?: number
}

function eventOf(change: Change): KeptEvent | undefined {
  switch (change.kind) {
    case 'OrderPlaced':
    case 'OrderHeld': {
      const { hold } = change
      return hold === undefined || MOMENTARY.has(hold) ? undefined : { kind: 'held', hold }
    }
    case 'OrderReleased':
      return { kind: 'released', hold: change.hold }
    case 'MatchReverted': {
      const { hold, settlementId, revert } = change
      return { kind: 'refused', hold, settlementId, revert }
    }
    case 'FillReversed': {
      const { settlementId, tradeId } = change.fill
      return { kind: 'reversed', hold: change.hold, settlementId, revert: change.revert, tradeId }
    }
    case 'OrderMatched':
    case 'OrderFilled':
    case 'OrderResized':
    case 'OrderCancelled':
    case 'OrderExpired':
    case 'OrderForgotten':
    case 'CommandRefused':
      return undefined
  }
}
