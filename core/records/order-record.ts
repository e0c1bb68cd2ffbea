import { formatDecimal } from '../decimal.js'
import type { Market } from '../market.js'
import type { QuoteE18 } from '../money.js'
import type { Order, OrderProgress } from '../order.js'
import { spotContract } from '../translation.js'
import { isoTime } from './iso-time.js'
import { marketFields } from './market-entry.js'

/** The order record of interface 2.5 with its additive fields (`open_amount`, `pending_amount`, ...). */
export type OrderRecord = Readonly<Record<string, unknown>> & { readonly order_id: string }

/** Presents an order and where it stands. */
export function orderRecord(market: Market, order: Order, progress: OrderProgress): OrderRecord {
  // Spreading several objects into one as large as this costs thirty times what assigning them does.
  const record: OrderRecord = termsOf(order)
  Object.assign(record, JSON.parse(order.statement) as object, progressFields(order, progress))
  return Object.assign(record, marketFields(market), presentedTerms(market, order))
}

/** The body of `GET /v1/orders/{order_id}`: the record flat, and once more as `order` (decision B11). */
export function orderLookup(market: Market, order: Order, progress: OrderProgress): OrderRecord {
  const record = orderRecord(market, order, progress)
  const lookup = { cancel_reason: progress.cancelReason ?? '', order: record }
  return Object.assign(orderRecord(market, order, progress), lookup)
}

/** An item of `GET /v1/orders`: the record, and the quote that changed hands, absent when the order has no fills. */
export function historyRecord(
  market: Market,
  stored: {
    readonly order: Order
    readonly progress: OrderProgress
    readonly filledQuote?: QuoteE18
  },
): OrderRecord {
  const { order, progress, filledQuote } = stored
  const quote = filledQuote === undefined ? {} : { filled_quote: formatDecimal(filledQuote, 18) }
  return Object.assign(orderRecord(market, order, progress), quote)
}

function termsOf(order: Order) {
  return {
    order_id: order.orderId,
    owner_address: order.owner,
    subaccount_id: order.subaccountId.toString(),
    nonce: order.nonce.toString(),
    side: order.side,
    desired_amount: formatDecimal(order.desiredAmount, 18),
    limit_price: formatDecimal(order.limitPrice, 18),
    signature_status: order.signatureStatus,
  }
}

function progressFields(order: Order, progress: OrderProgress) {
  return {
    status: progress.status,
    filled_amount: formatDecimal(progress.filled, 18),
    pending_amount: formatDecimal(progress.pending, 18),
    open_amount: formatDecimal(progress.open, 18),
    remaining_amount: formatDecimal(order.desiredAmount - progress.filled, 18),
    created_at: isoTime(progress.createdAtMs),
    updated_at: isoTime(progress.updatedAtMs),
    ...(progress.heldReason === undefined ? {} : { held_reason: progress.heldReason }),
    ...(progress.cancelReason === undefined ? {} : { cancel_reason: progress.cancelReason }),
    ...(progress.cancelledAtMs === undefined
      ? {}
      : { cancelled_at: isoTime(progress.cancelledAtMs) }),
  }
}

function presentedTerms(market: Market, order: Order) {
  const contract = spotContract(
    market,
    { side: order.side, price: order.limitPrice, amount: order.desiredAmount },
    order.uiIntent,
  )
  return contract === undefined ? {} : { spot_contract: contract }
}
