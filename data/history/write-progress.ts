import type { Database } from 'better-sqlite3'
import { assert } from '../../core/assert.js'
import type { OrderSums } from '../../core/engine/order-sums.js'
import { heldReasonAfter, type Change } from '../../core/model/change.js'
import { isLiving } from '../../core/model/order.js'
import type { HoldReason } from '../../core/model/hold.js'
import { blobOf, sumsOfColumns, type SumColumns } from '../row-values.js'

/** What the row of an order keeps from change to change. */
interface KeptColumns {
  readonly key: number
  readonly createdAtMs: number
  readonly hold: HoldReason | null
  readonly cancelReason: string | null
  /** Unix milliseconds of the first cancel and of the first end. */
  readonly cancelledAtMs: number | null
  readonly endedAtMs: number | null
  /** What its own fills add up to; undefined before the first. */
  readonly sums: OrderSums | undefined
}

interface PlacementColumns {
  readonly columns: readonly unknown[]
  readonly ordinal: number
  readonly subaccountId: bigint
}

/** An order's row during a transaction. */
interface ProgressRow extends KeptColumns {
  /** What a placement alone states; absent of a row that is stored. */
  readonly placed: PlacementColumns | undefined
  /** The newest change, which is not stored yet; absent of a row as it is stored. */
  readonly change: Change | undefined
}

/** What a change does to its order besides its status and amounts. */
export interface ProgressOfChange {
  readonly cancelReason?: string | undefined
  /** What the fill of the change makes of the order's figures. */
  readonly sumsAfter?: (before: OrderSums | undefined) => OrderSums | undefined
}

/**
 * Writes the newest state of orders. A row is written once in a transaction, however many changes its order has in it:
 * when a feed is projected again, most orders are placed, matched and filled in one.
 */
export interface ProgressWriter {
  /** Call before the first change of a transaction: discards what a failed one left in memory. */
  begin(): void
  /** The state of a new order with this key. */
  place(key: number, ordinal: number, change: Extract<Change, { kind: 'OrderPlaced' }>): void
  /** The order's state after a change; its first end keeps its reason and time. Returns the order's key. */
  move(change: Change, also?: ProgressOfChange): number
  /** The key of an order that was placed; InvariantBroken for one that never was. */
  readonly keyOf: (orderId: string) => number
  /**
   * Writes all rows if one of them is of an order that had ended by that unix millisecond. Returns a lower bound for the
   * end of each order whose row is not written.
   */
  readonly flushEndedBy: (unixMs: number) => number
  /** Call after the last change of a transaction. */
  flush(): void
}

/** Must run inside transactions; keeps no more rows than a transaction has changes. */
export function createProgressWriter(db: Database): ProgressWriter {
  const load = createLoadRow(db)
  const store = createStoreRow(db)
  const rows = new Map<string, ProgressRow>()
  /** Lower bound for the first end of the orders whose rows are not written. */
  let firstEndMs = Infinity

  const rowOf = (orderId: string): ProgressRow => {
    let row = rows.get(orderId)
    if (row === undefined) rows.set(orderId, (row = load(orderId)))
    return row
  }
  const set = (row: ProgressRow, change: Change, also: ProgressOfChange): void => {
    const { cancelReason, sumsAfter } = also
    const { status, atMs } = change
    const ends = status === 'cancelled' || status === 'expired'
    const endedAtMs = row.endedAtMs ?? (ends ? atMs : null)
    if (endedAtMs !== null) firstEndMs = Math.min(firstEndMs, endedAtMs)
    rows.set(change.orderId, {
      key: row.key,
      createdAtMs: row.createdAtMs,
      placed: row.placed,
      change,
      hold: heldReasonAfter(change, row.hold ?? undefined) ?? null,
      cancelReason: row.cancelReason ?? cancelReason ?? null,
      cancelledAtMs: row.cancelledAtMs ?? (status === 'cancelled' ? atMs : null),
      endedAtMs,
      sums: sumsAfter === undefined ? row.sums : sumsAfter(row.sums),
    })
  }
  const flush = (): void => {
    for (const row of rows.values()) store(row)
    rows.clear()
    firstEndMs = Infinity
  }
  return {
    begin() {
      rows.clear()
      firstEndMs = Infinity
    },
    place(key, ordinal, change) {
      const { side, limitPrice, subaccountId } = change.order
      const columns = [ordinal, side, String(limitPrice), change.rank]
      const placed = { columns, ordinal, subaccountId }
      set({ key, createdAtMs: change.atMs, placed, ...NEW }, change, {
        cancelReason: change.cancelReason,
      })
    },
    move(change, also = {}) {
      const row = rowOf(change.orderId)
      set(row, change, also)
      return row.key
    },
    keyOf: (orderId) => rowOf(orderId).key,
    flushEndedBy(unixMs) {
      if (firstEndMs <= unixMs) flush()
      return firstEndMs
    },
    flush,
  }
}

const NEW = {
  change: undefined,
  hold: null,
  cancelReason: null,
  cancelledAtMs: null,
  endedAtMs: null,
  sums: undefined,
} as const

type StoredProgress = Omit<KeptColumns, 'sums'> & SumColumns

function createLoadRow(db: Database): (orderId: string) => ProgressRow {
  const select = db
    .prepare<[string], StoredProgress>(
      `SELECT order_key AS key, created_at_ms AS createdAtMs, held_reason AS hold, cancel_reason AS cancelReason,
         cancelled_at_ms AS cancelledAtMs, ended_at_ms AS endedAtMs,
         fills_amount AS fillsAmount, filled_quote AS filledQuote, filled_product AS filledProduct, fee_paid AS feePaid
       FROM orders JOIN order_progress USING (order_key) WHERE order_id = ?`,
    )
    .safeIntegers(false)
  return (orderId) => {
    const stored = select.get(orderId)
    assert(stored !== undefined, `order ${JSON.stringify(orderId)} was never placed`)
    const { fillsAmount, filledQuote, filledProduct, feePaid, ...kept } = stored
    const sums = sumsOfColumns({ fillsAmount, filledQuote, filledProduct, feePaid })
    return { ...kept, sums, placed: undefined, change: undefined }
  }
}

function createStoreRow(db: Database): (row: ProgressRow) => void {
  const insert = db.prepare(
    `INSERT INTO order_progress (status, filled, pending, open, updated_seq, updated_at_ms,
       held_reason, cancel_reason, cancelled_at_ms, ended_at_ms, fills_amount, filled_quote,
       filled_product, fee_paid, order_key, market_id, side, limit_price, rank)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const update = db.prepare(
    `UPDATE order_progress SET status = ?, filled = ?, pending = ?, open = ?, updated_seq = ?,
       updated_at_ms = ?, held_reason = ?, cancel_reason = ?, cancelled_at_ms = ?,
       ended_at_ms = ?, fills_amount = ?, filled_quote = ?, filled_product = ?, fee_paid = ?
     WHERE order_key = ?`,
  )
  const keepLive = createKeepLive(db)
  return (row) => {
    const { placed, change } = row
    if (change === undefined) return
    const columns = [
      ...[change.status, String(change.filled), String(change.pending), String(change.open)],
      ...[change.seq, change.atMs, row.hold, row.cancelReason],
      ...[row.cancelledAtMs, row.endedAtMs, ...columnsOf(row.sums), row.key],
    ]
    keepLive(row, change)
    if (placed !== undefined) insert.run(...columns, ...placed.columns)
    else assert(update.run(...columns).changes === 1, `order ${change.orderId} has no row`)
  }
}

/** An order that has ended does not live again. */
function createKeepLive(db: Database): (row: ProgressRow, change: Change) => void {
  const insert = db.prepare(
    `INSERT INTO live_orders (owner, created_at_ms, order_key, market_id, subaccount_id)
     VALUES (?, ?, ?, ?, ?)`,
  )
  const remove = db.prepare(
    'DELETE FROM live_orders WHERE owner = ? AND created_at_ms = ? AND order_key = ?',
  )
  return ({ key, createdAtMs, placed }, { owner, status }) => {
    const place = [blobOf(owner), createdAtMs, key]
    if (!isLiving(status)) {
      if (placed === undefined) remove.run(...place)
    } else if (placed !== undefined) {
      insert.run(...place, placed.ordinal, String(placed.subaccountId))
    }
  }
}

const columnsOf = (sums: OrderSums | undefined): (string | null)[] =>
  sums === undefined
    ? [null, null, null, null]
    : [String(sums.amount), String(sums.quote), String(sums.product), String(sums.fee)]
