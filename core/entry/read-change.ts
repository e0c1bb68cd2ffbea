import { isNegativeDecimal, parseDecimal } from '../decimal.js'
import { asJsonObject, fieldOf, type JsonFields } from '../json.js'
import { MAX_BATCH_ORDERS } from '../limits.js'
import { amountE18, type AmountE18 } from '../money.js'
import { batchRefusals, changeRefusals } from './order-refusals.js'
import { readCancel, readOrderName, type CancelRequest, type OrderName } from './read-cancels.js'
import { fieldRequired, invalidDecimal, refusals, type OrRefusal } from './refusals.js'

/** What a reduction asks for. */
export type ReductionRequest = CancelRequest & {
  /** What the order is to ask for in all, not yet judged by the market's steps; 0 cancels it. */
  readonly desired: AmountE18
}

/** Reads the body of `POST /v1/orders/reduce`: a cancel with an amount. Pure. */
export function readReduction(body: unknown): OrRefusal<ReductionRequest> {
  const cancel = readCancel(body)
  if ('refusal' in cancel) return cancel
  const sent = fieldOf(asJsonObject(body) ?? {}, 'desired_amount')
  if (sent === undefined) return { refusal: fieldRequired('desired_amount') }
  if (isNegativeDecimal(sent)) return { refusal: changeRefusals.reductionNegative }
  const value = parseDecimal(sent, 18)
  if (value === undefined) return { refusal: invalidDecimal('desired_amount', sent, 18) }
  return { ...cancel, desired: amountE18(value) }
}

/** What a replacement asks for. */
export interface ReplacementRequest {
  /** The body of the new order, unchecked. */
  readonly order: JsonFields
  /** The owner's order that it replaces. */
  readonly replaces: OrderName
  /** A service tagged it as its own; it may then not touch protected namespaces (CAN-014). */
  readonly serviceTagged: boolean
}

/** Reads what the body of `POST /v1/orders/replace` says besides its order. Pure. */
export function readReplacement(body: unknown): OrRefusal<ReplacementRequest> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  const replaces = readOrderName(fields, 'replaces_nonce', 'replaces_order_id')
  if ('refusal' in replaces) return replaces
  const filled = fieldOf(fields, 'filled_amount')
  if (filled !== undefined && parseDecimal(filled, 18) !== 0n) {
    return { refusal: changeRefusals.replacementFilled }
  }
  const serviceTagged = fieldOf(fields, 'service') !== undefined
  const order = { ...fields, replaces_nonce: undefined, replaces_order_id: undefined }
  return { order, replaces, serviceTagged }
}

/** Whether an order of a batch replaces another one: it names one. Pure. */
export function isReplacement(body: unknown): boolean {
  const fields = asJsonObject(body) ?? {}
  return ['replaces_nonce', 'replaces_order_id'].some((name) => fieldOf(fields, name) !== undefined)
}

/** Reads the body of `POST /v1/orders/batch`: 1 to 20 orders, each still unchecked. Pure. */
export function readBatch(body: unknown): OrRefusal<{ readonly orders: readonly unknown[] }> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  const orders = fieldOf(fields, 'orders')
  if (orders === undefined) return { refusal: fieldRequired('orders') }
  const isList = Array.isArray(orders) && orders.length > 0 && orders.length <= MAX_BATCH_ORDERS
  return isList ? { orders } : { refusal: batchRefusals.orders }
}
