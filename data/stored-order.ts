import { orderFromText } from '../bus-schemas/order-wire.js'
import type { HoldReason } from '../core/change.js'
import { amountE18, quoteE18 } from '../core/money.js'
import type { Order, OrderProgress, OrderStatus } from '../core/order.js'
import type { StoredOrder } from './read-model.js'

/** An order's columns. */
export const ORDER_COLUMNS = `body, rank, created_at_ms AS createdAtMs, status, filled, pending, open,
    filled_quote AS filledQuote, updated_at_ms AS updatedAtMs, held_reason AS heldReason, cancel_reason AS cancelReason,
    cancelled_at_ms AS cancelledAtMs`

/** What ORDER_COLUMNS select; amounts are integers at 1e18 in decimal text. */
export interface OrderRow {
  readonly body: string
  readonly rank: number
  readonly createdAtMs: number
  readonly status: OrderStatus
  readonly filled: string
  readonly pending: string
  readonly open: string
  readonly filledQuote: string | null
  readonly updatedAtMs: number
  readonly heldReason: HoldReason | null
  readonly cancelReason: string | null
  readonly cancelledAtMs: number | null
}

/** The order of a row. */
export const orderOf = (row: OrderRow): Order => orderFromText(row.body)

/** Where the order of a row stands. */
export function progressOf(row: OrderRow): OrderProgress {
  return {
    status: row.status,
    filled: amountE18(BigInt(row.filled)),
    pending: amountE18(BigInt(row.pending)),
    open: amountE18(BigInt(row.open)),
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    ...(row.heldReason === null ? {} : { heldReason: row.heldReason }),
    ...(row.cancelReason === null ? {} : { cancelReason: row.cancelReason }),
    ...(row.cancelledAtMs === null ? {} : { cancelledAtMs: row.cancelledAtMs }),
  }
}

/** The whole of a row. */
export function storedOrderOf(row: OrderRow): StoredOrder {
  const { filledQuote } = row
  return {
    order: orderOf(row),
    progress: progressOf(row),
    ...(filledQuote === null ? {} : { filledQuote: quoteE18(BigInt(filledQuote)) }),
  }
}
