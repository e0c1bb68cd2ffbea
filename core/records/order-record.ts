import { formatDecimal } from '../decimal.js'
import { jsonText } from '../json-text.js'
import type { Market } from '../market.js'
import type { QuoteE18 } from '../money.js'
import type { Order, OrderProgress } from '../order.js'
import { spotContract } from '../translation.js'
import { isoTime } from './iso-time.js'
import { marketFields } from './market-entry.js'

/** Members of a JSON object, each with the comma that parts it from the next. */
type Members = string

/**
 * The order record of interface 2.5 with its additive fields (`open_amount`, `pending_amount`, ...) as JSON text. Written by
 * hand, because the statement is in it as it came: what was once written is not parsed to be written again.
 */
export function orderRecordJson(market: Market, order: Order, progress: OrderProgress): string {
  return `{${recordMembers(market, order, progress)}${statementRest(order)}`
}

/** The body of `GET /v1/orders/{order_id}`: the record flat, and once more as `order` (decision B11). */
export function orderLookupJson(market: Market, order: Order, progress: OrderProgress): string {
  const record = orderRecordJson(market, order, progress)
  const reason = progress.cancelReason === undefined ? '"cancel_reason":"",' : ''
  return `{${reason}"order":${record},${record.slice(1)}`
}

/** An item of `GET /v1/orders`: the record, and the quote that changed hands, absent when the order has no fills. */
export function historyRecordJson(
  market: Market,
  stored: {
    readonly order: Order
    readonly progress: OrderProgress
    readonly filledQuote?: QuoteE18
  },
): string {
  const { order, progress, filledQuote } = stored
  const record = orderRecordJson(market, order, progress)
  if (filledQuote === undefined) return record
  return `{"filled_quote":"${formatDecimal(filledQuote, 18)}",${record.slice(1)}`
}

/** What the statement says, and the end of the object around it. */
const statementRest = ({ statement }: Order): string => statement.slice(1)

function recordMembers(market: Market, order: Order, progress: OrderProgress): Members {
  const desired = formatDecimal(order.desiredAmount, 18)
  const limit = formatDecimal(order.limitPrice, 18)
  const terms = `"order_id":${jsonText(order.orderId)},"owner_address":"${order.owner}","subaccount_id":"${order.subaccountId}","nonce":"${order.nonce}","side":"${order.side}","desired_amount":"${desired}","limit_price":"${limit}","signature_status":"${order.signatureStatus}",`
  return `${terms}${progressMembers(order, progress, desired)}${marketMembers(market)}${presentedTerms(market, order)}`
}

function progressMembers(order: Order, progress: OrderProgress, desired: string): Members {
  const { filled, createdAtMs, updatedAtMs } = progress
  // Most amounts of most orders are nothing or all of it.
  const amount = (value: bigint): string =>
    value === order.desiredAmount ? desired : formatDecimal(value, 18)
  const createdAt = isoTime(createdAtMs)
  const updatedAt = updatedAtMs === createdAtMs ? createdAt : isoTime(updatedAtMs)
  const remaining = amount(order.desiredAmount - filled)
  return `"status":"${progress.status}","filled_amount":"${amount(filled)}","pending_amount":"${amount(progress.pending)}","open_amount":"${amount(progress.open)}","remaining_amount":"${remaining}","created_at":"${createdAt}","updated_at":"${updatedAt}",${reasonMembers(progress)}`
}

/** Nearly always none of them is there. */
function reasonMembers({ heldReason, cancelReason, cancelledAtMs }: OrderProgress): Members {
  const held = heldReason === undefined ? '' : `"held_reason":"${heldReason}",`
  const reason = cancelReason === undefined ? '' : `"cancel_reason":${jsonText(cancelReason)},`
  const at = cancelledAtMs === undefined ? '' : `"cancelled_at":"${isoTime(cancelledAtMs)}",`
  return held + reason + at
}

const membersOfMarkets = new WeakMap<Market, Members>()

/** The same for every order of a market, so it is written once. */
function marketMembers(market: Market): Members {
  const known = membersOfMarkets.get(market)
  if (known !== undefined) return known
  const members = `${JSON.stringify(marketFields(market)).slice(1, -1)},`
  membersOfMarkets.set(market, members)
  return members
}

function presentedTerms(market: Market, order: Order): Members {
  const contract = spotContract(
    market,
    { side: order.side, price: order.limitPrice, amount: order.desiredAmount },
    order.uiIntent,
  )
  if (contract === undefined) return ''
  const { spec, ui_intent: intent, engine_order: engine, balance_delta: delta } = contract
  return `"spot_contract":{"spec":${jsonText(spec)},"ui_intent":{"side":"${intent.side}","price":${jsonText(intent.price)},"size":${jsonText(intent.size)}},"engine_order":{"side":"${engine.side}","price":"${engine.price}","amount":"${engine.amount}"},"balance_delta":{"usdc":"${delta.usdc}","cngn":"${delta.cngn}"}},`
}
