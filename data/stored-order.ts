import { orderFromWire } from '../bus-schemas/order-wire.js'
import type { OrderWire } from '../bus-schemas/order-wire.js'
import { amountE18 } from '../core/money.js'
import type { Order, OrderProgress, OrderStatus } from '../core/order.js'

/** An order's columns as the queries below select them; amounts are integers at 1e18 in decimal text. */
export interface OrderRow {
  readonly body: string
  readonly rank: number
  readonly createdAtMs: number
  readonly status: OrderStatus
  readonly filled: string
  readonly pending: string
  readonly open: string
  readonly updatedAtMs: number
  readonly cancelReason: string | null
  readonly cancelledAtMs: number | null
}

/** The signed order of a row: what the projector wrote, so it is not checked again. */
export function orderOf(row: OrderRow): Order {
  return orderFromWire(JSON.parse(row.body) as OrderWire)
}

/** Where the order of a row stands. */
export function progressOf(row: OrderRow): OrderProgress {
  return {
    status: row.status,
    filled: amountE18(BigInt(row.filled)),
    pending: amountE18(BigInt(row.pending)),
    open: amountE18(BigInt(row.open)),
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    ...(row.cancelReason === null ? {} : { cancelReason: row.cancelReason }),
    ...(row.cancelledAtMs === null ? {} : { cancelledAtMs: row.cancelledAtMs }),
  }
}
