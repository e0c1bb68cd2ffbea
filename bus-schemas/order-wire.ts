import type { HoldReason } from '../core/change.js'
import { amountE18, feePerUnitE18, priceE18 } from '../core/money.js'
import { asStatement } from '../core/order-statement.js'
import type { Order, OrderProgress, OrderStatus, Side, UiIntent } from '../core/order.js'
import { jsonText } from '../core/json-text.js'
import type { Lines } from './frame.js'
import {
  assertClosed,
  fieldsOf,
  malformed,
  one,
  readAddress,
  readOneOf,
  readText,
  readUint,
  readWhole,
} from './read-fields.js'
import { optionalText } from './write-fields.js'

/** The texts of a closed set; one that is missing does not compile. */
const textsOf = <T extends string>(texts: Readonly<Record<T, true>>): readonly T[] =>
  Object.keys(texts) as T[]

export const SIDES = textsOf<Side>({ buy: true, sell: true })
export const STATUSES = textsOf<OrderStatus>({
  active: true,
  matching: true,
  filled: true,
  cancelled: true,
  expired: true,
})
/** Why an order rests without being open. */
export const HOLDS = textsOf<HoldReason>({
  signature_unchecked: true,
  settlement_refused: true,
  expiring: true,
  continuing: true,
  insufficient_balance: true,
  not_in_custody: true,
})
const SIGNATURE_STATUSES = textsOf<Order['signatureStatus']>({ checked: true, unchecked: true })

/** The terms of an order as messages and stored rows hold them, amounts at 1e18 in decimal text; its statement is beside. */
interface OrderWire {
  readonly order_id: string
  readonly market: string
  readonly owner: string
  readonly subaccount_id: string
  readonly nonce: string
  readonly side: Side
  readonly desired_amount: string
  readonly initial_filled: string
  readonly limit_price: string
  readonly worst_fee: string
  readonly good_until_sec: number
  readonly signature_status: Order['signatureStatus']
  readonly ui_intent?: UiIntent | undefined
}

/** Where an order stands, amounts at 1e18 in decimal text. */
interface ProgressWire {
  readonly status: OrderStatus
  readonly filled: string
  readonly pending: string
  readonly open: string
  readonly created_at_ms: number
  readonly updated_at_ms: number
  readonly held_reason?: HoldReason | undefined
  readonly cancel_reason?: string | undefined
  readonly cancelled_at_ms?: number | undefined
}

/**
 * The terms of an order as JSON; equal terms give equal JSON. Whoever writes them puts the statement behind the head, and
 * gives the desired amount's text if it is at hand.
 */
export function orderJson(order: Order, desired = String(order.desiredAmount)): string {
  const { uiIntent } = order
  const intent = uiIntent === undefined ? '' : `,"ui_intent":${intentJson(uiIntent)}`
  return `{"order_id":${jsonText(order.orderId)},"market":${jsonText(order.market)},"owner":"${order.owner}","subaccount_id":"${order.subaccountId}","nonce":"${order.nonce}","side":"${order.side}","desired_amount":"${desired}","initial_filled":"${order.initialFilled}","limit_price":"${order.limitPrice}","worst_fee":"${order.worstFee}","good_until_sec":${order.goodUntilSec},"signature_status":"${order.signatureStatus}"${intent}}`
}

/** The inverse of orderJson for parsed JSON, given the lines behind the head. Throws MalformedMessage unless it is one. */
export function orderFromWire(value: unknown, lines: Pick<Lines, 'statement'>): Order {
  const wire = fieldsOf<OrderWire>(value, 'order')
  const { ui_intent } = wire
  const order: Draft<Order> = {
    orderId: readText(wire.order_id, 'order_id'),
    market: readText(wire.market, 'market'),
    owner: readAddress(wire.owner, 'owner'),
    subaccountId: readUint(wire.subaccount_id, 'subaccount_id'),
    nonce: readUint(wire.nonce, 'nonce'),
    side: readOneOf(SIDES, wire.side, 'side'),
    desiredAmount: amountE18(readUint(wire.desired_amount, 'desired_amount')),
    initialFilled: amountE18(readUint(wire.initial_filled, 'initial_filled')),
    limitPrice: priceE18(readUint(wire.limit_price, 'limit_price')),
    worstFee: feePerUnitE18(readUint(wire.worst_fee, 'worst_fee')),
    goodUntilSec: readWhole(wire.good_until_sec, 'good_until_sec'),
    signatureStatus: readOneOf(SIGNATURE_STATUSES, wire.signature_status, 'signature_status'),
    statement: lines.statement(),
  }
  if (ui_intent !== undefined) order.uiIntent = intentFromWire(ui_intent)
  assertClosed(wire, 12 + one(ui_intent), 'order')
  return order
}

/** An order as one text to be stored: its terms, and its statement on a line of its own. */
export const orderText = (order: Order): string => `${orderJson(order)}\n${order.statement}`

/** The inverse of orderText. Throws MalformedMessage unless it is one. */
export function orderFromText(text: string): Order {
  const end = text.indexOf('\n')
  const statement = asStatement(text.slice(end + 1))
  if (end === -1 || statement === undefined) return malformed('order', 'terms and a statement')
  return orderFromWire(JSON.parse(text.slice(0, end)), { statement: () => statement })
}

/** Where an order stands as JSON; equal standings give equal JSON. */
export function progressJson(progress: OrderProgress): string {
  const { heldReason, cancelledAtMs } = progress
  const held = heldReason === undefined ? '' : `,"held_reason":"${heldReason}"`
  const cancelled = cancelledAtMs === undefined ? '' : `,"cancelled_at_ms":${cancelledAtMs}`
  const reason = optionalText('cancel_reason', progress.cancelReason)
  return `{"status":"${progress.status}","filled":"${progress.filled}","pending":"${progress.pending}","open":"${progress.open}","created_at_ms":${progress.createdAtMs},"updated_at_ms":${progress.updatedAtMs}${held}${reason}${cancelled}}`
}

type Draft<T> = { -readonly [K in keyof T]: T[K] }

/** The inverse of progressJson for parsed JSON. Throws MalformedMessage unless it is a progress's wire form. */
export function progressFromWire(value: unknown): OrderProgress {
  const wire = fieldsOf<ProgressWire>(value, 'progress')
  const { held_reason, cancel_reason, cancelled_at_ms } = wire
  const progress: Draft<OrderProgress> = {
    status: readOneOf(STATUSES, wire.status, 'status'),
    filled: amountE18(readUint(wire.filled, 'filled')),
    pending: amountE18(readUint(wire.pending, 'pending')),
    open: amountE18(readUint(wire.open, 'open')),
    createdAtMs: readWhole(wire.created_at_ms, 'created_at_ms'),
    updatedAtMs: readWhole(wire.updated_at_ms, 'updated_at_ms'),
  }
  if (held_reason !== undefined) progress.heldReason = readOneOf(HOLDS, held_reason, 'held_reason')
  if (cancel_reason !== undefined) progress.cancelReason = readText(cancel_reason, 'cancel_reason')
  if (cancelled_at_ms !== undefined) {
    progress.cancelledAtMs = readWhole(cancelled_at_ms, 'cancelled_at_ms')
  }
  assertClosed(wire, 6 + one(held_reason) + one(cancel_reason) + one(cancelled_at_ms), 'progress')
  return progress
}

const intentJson = ({ side, price, size }: UiIntent): string =>
  `{"side":"${side}","price":${jsonText(price)},"size":${jsonText(size)}}`

function intentFromWire(value: unknown): UiIntent {
  const wire = fieldsOf<UiIntent>(value, 'ui_intent')
  const intent = {
    side: readOneOf(SIDES, wire.side, 'ui_intent.side'),
    price: readText(wire.price, 'ui_intent.price'),
    size: readText(wire.size, 'ui_intent.size'),
  }
  assertClosed(wire, 3, 'ui_intent')
  return intent
}
