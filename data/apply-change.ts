import type { Database } from 'better-sqlite3'
import { orderText } from '../bus-schemas/order-wire.js'
import type { Change, ChangeBase, Fill, HoldReason } from '../core/change.js'
import { heldReasonAfter } from '../core/held-reason.js'
import { notionalFloor } from '../core/money.js'
import { blobOf } from './bytes.js'
import { logKey } from './log-key.js'
import type { CandleWriter } from './write-candles.js'
import { createOrderKeys } from './order-keys.js'
import type { OrderKeys } from './order-keys.js'
import { createFillWriter, createTradeReverser } from './write-fill.js'

export interface ChangeWriter {
  /** Before the first change of a transaction. */
  begin(): void
  /** Writes what one change of the market with this ordinal makes of its order. */
  apply(ordinal: number, change: Change): void
  /** After the last change of a transaction. */
  flush(): void
}

type Placement = Extract<Change, { kind: 'OrderPlaced' }>
type Filling = Extract<Change, { kind: 'OrderFilled' }>
type Reversing = Extract<Change, { kind: 'FillReversed' }>

/** Each kind of change and what it does to the rows; must run inside a transaction. */
export function createChangeWriter(db: Database, candles: CandleWriter): ChangeWriter {
  const placeOrder = createPlaceOrder(db)
  const keyOf = createOrderKeys(db)
  const moveOrder = createMoveOrder(db, keyOf)
  const fills = createFillWriter({ db, candles, keyOf })
  const addQuote = createAddQuote(db)
  const fillOrder = (ordinal: number, change: Filling): void => {
    const key = moveOrder(change)
    addQuote(key, notionalOf(change.fill))
    fills.write(ordinal, change, key)
  }
  const reverseTrade = createTradeReverser({ db, candles })
  const reverseFill = (ordinal: number, change: Reversing): void => {
    const key = moveOrder(change, change.cancelReason)
    addQuote(key, -notionalOf(change.fill))
    reverseTrade(ordinal, change)
  }
  return {
    begin: () => fills.begin(),
    flush: () => fills.flush(),
    apply(ordinal, change) {
      switch (change.kind) {
        case 'OrderPlaced':
          placeOrder(ordinal, change)
          break
        case 'OrderFilled':
          fillOrder(ordinal, change)
          break
        case 'FillReversed':
          reverseFill(ordinal, change)
          break
        case 'OrderCancelled':
        case 'OrderReleased':
        case 'MatchReverted':
          moveOrder(change, change.cancelReason)
          break
        case 'OrderMatched':
        case 'OrderHeld':
        case 'OrderExpired':
          moveOrder(change)
          break
      }
    },
  }
}

function createPlaceOrder(db: Database) {
  const insertOrder = db.prepare(
    `INSERT INTO orders (order_key, market_id, order_id, owner, created_at_ms, body)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const insertProgress = db.prepare(
    `INSERT INTO order_progress (order_key, market_id, side, limit_price, rank,
       status, filled, pending, open, updated_seq, updated_at_ms,
       held_reason, cancel_reason, cancelled_at_ms, ended_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (ordinal: number, change: Placement): void => {
    const key = logKey(change.seq, ordinal)
    const { order, rank, seq, atMs } = change
    insertOrder.run(key, ordinal, order.orderId, blobOf(order.owner), atMs, orderText(order))
    insertProgress.run(
      ...[key, ordinal, order.side, String(order.limitPrice), rank],
      ...[change.status, String(change.filled), String(change.pending), String(change.open)],
      ...[seq, atMs, heldReasonAfter(change, undefined) ?? null],
      ...[change.cancelReason ?? null, cancelledAtMs(change), endedAtMs(change)],
    )
  }
}

/** Writes an order's state after a change and gives the order's key; the first end, its reason and its time stand. */
function createMoveOrder(db: Database, keyOf: OrderKeys) {
  const update = db.prepare(
    `UPDATE order_progress SET status = ?, filled = ?, pending = ?, open = ?,
       updated_seq = ?, updated_at_ms = ?, held_reason = ?,
       cancel_reason = COALESCE(cancel_reason, ?), cancelled_at_ms = COALESCE(cancelled_at_ms, ?),
       ended_at_ms = COALESCE(ended_at_ms, ?)
     WHERE order_key = ?`,
  )
  const selectHold = db
    .prepare<[number], HoldReason | null>(
      'SELECT held_reason FROM order_progress WHERE order_key = ?',
    )
    .pluck()
  return (change: Change, cancelReason?: string): number => {
    const key = keyOf(change.orderId)
    const before = change.kind === 'OrderFilled' ? (selectHold.get(key) ?? undefined) : undefined
    update.run(
      ...[change.status, String(change.filled), String(change.pending), String(change.open)],
      ...[change.seq, change.atMs, heldReasonAfter(change, before) ?? null],
      ...[cancelReason ?? null, cancelledAtMs(change), endedAtMs(change), key],
    )
    return key
  }
}

function cancelledAtMs(change: ChangeBase): number | null {
  return change.status === 'cancelled' ? change.atMs : null
}

function endedAtMs(change: ChangeBase): number | null {
  return change.status === 'cancelled' || change.status === 'expired' ? change.atMs : null
}

/** The quote of a fill, at the execution price and rounded as the chain moves it. */
const notionalOf = ({ price, amount }: Fill): bigint => notionalFloor(price, amount)

/** Moves the quote that an order has exchanged. */
function createAddQuote(db: Database) {
  const select = db
    .prepare<[number], string | null>('SELECT filled_quote FROM order_progress WHERE order_key = ?')
    .pluck()
  const update = db.prepare('UPDATE order_progress SET filled_quote = ? WHERE order_key = ?')
  return (key: number, quote: bigint): void => {
    const before = BigInt(select.get(key) ?? '0')
    update.run(String(before + quote), key)
  }
}
