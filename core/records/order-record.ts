import type { Market } from '../market.js'
import type { Order, OrderProgress } from '../order.js'

/** The order record of interface 2.5 with its additive fields (`open_amount`, `pending_amount`, ...). */
export type OrderRecord = Readonly<Record<string, unknown>> & { readonly order_id: string }

/** Presents an order and where it stands. */
export function orderRecord(market: Market, order: Order, progress: OrderProgress): OrderRecord {
  throw new Error(`orderRecord ${market.market} ${order.orderId} ${progress.status}`)
}
