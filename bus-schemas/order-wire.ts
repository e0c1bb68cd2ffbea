import type { ActionJson } from '../core/action.js'
import type { HoldReason } from '../core/change.js'
import { amountE18, feePerUnitE18, priceE18 } from '../core/money.js'
import type { Order, OrderProgress, OrderStatus, Side, UiIntent } from '../core/order.js'
import {
  assertClosed,
  fieldsOf,
  one,
  readAddress,
  readHex,
  readList,
  readOneOf,
  readText,
  readUint,
  readWhole,
} from './read-fields.js'

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

/** An order as messages and stored rows hold it: amounts at 1e18 in decimal text, the signed action as it came. */
export interface OrderWire {
  readonly order_id: string
  readonly market: string
  readonly owner: string
  readonly signer: string
  readonly subaccount_id: string
  readonly recipient_id: string
  readonly nonce: string
  readonly side: Side
  readonly asset_address: string
  readonly sub_id: string
  readonly desired_amount: string
  readonly initial_filled: string
  readonly limit_price: string
  readonly worst_fee: string
  readonly expiry_sec: number
  readonly good_until_sec: number
  readonly action: ActionJson
  readonly signature: string
  readonly ui_intent?: UiIntent | undefined
  readonly signature_status: Order['signatureStatus']
  readonly warnings?: readonly string[] | undefined
}

/** Where an order stands, amounts at 1e18 in decimal text. */
export interface ProgressWire {
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

/** The order's wire form; equal orders give equal JSON whatever order their keys were set in. */
export function orderToWire(order: Order): OrderWire {
  const { uiIntent } = order
  return {
    order_id: order.orderId,
    market: order.market,
    owner: order.owner,
    signer: order.signer,
    subaccount_id: String(order.subaccountId),
    recipient_id: String(order.recipientId),
    nonce: String(order.nonce),
    side: order.side,
    asset_address: order.assetAddress,
    sub_id: String(order.subId),
    desired_amount: String(order.desiredAmount),
    initial_filled: String(order.initialFilled),
    limit_price: String(order.limitPrice),
    worst_fee: String(order.worstFee),
    expiry_sec: order.expirySec,
    good_until_sec: order.goodUntilSec,
    action: actionInOrder(order.action),
    signature: order.signature,
    ui_intent: uiIntent === undefined ? undefined : intentInOrder(uiIntent),
    signature_status: order.signatureStatus,
    warnings: order.warnings,
  }
}

type Draft<T> = { -readonly [K in keyof T]: T[K] }

/** The inverse of orderToWire for parsed JSON. Throws MalformedMessage unless it is an order's wire form. */
export function orderFromWire(value: unknown): Order {
  const wire = fieldsOf<OrderWire>(value, 'order')
  const { ui_intent, warnings } = wire
  const order: Draft<Order> = {
    orderId: readText(wire.order_id, 'order_id'),
    market: readText(wire.market, 'market'),
    owner: readAddress(wire.owner, 'owner'),
    signer: readAddress(wire.signer, 'signer'),
    subaccountId: readUint(wire.subaccount_id, 'subaccount_id'),
    recipientId: readUint(wire.recipient_id, 'recipient_id'),
    nonce: readUint(wire.nonce, 'nonce'),
    side: readOneOf(SIDES, wire.side, 'side'),
    assetAddress: readAddress(wire.asset_address, 'asset_address'),
    subId: readUint(wire.sub_id, 'sub_id'),
    desiredAmount: amountE18(readUint(wire.desired_amount, 'desired_amount')),
    initialFilled: amountE18(readUint(wire.initial_filled, 'initial_filled')),
    limitPrice: priceE18(readUint(wire.limit_price, 'limit_price')),
    worstFee: feePerUnitE18(readUint(wire.worst_fee, 'worst_fee')),
    expirySec: readWhole(wire.expiry_sec, 'expiry_sec'),
    goodUntilSec: readWhole(wire.good_until_sec, 'good_until_sec'),
    action: actionFromWire(wire.action),
    signature: readHex(wire.signature, 'signature'),
    signatureStatus: readOneOf(SIGNATURE_STATUSES, wire.signature_status, 'signature_status'),
  }
  if (ui_intent !== undefined) order.uiIntent = intentFromWire(ui_intent)
  if (warnings !== undefined) {
    order.warnings = readList(warnings, 'warnings').map((text) => readText(text, 'warnings'))
  }
  assertClosed(wire, 19 + one(ui_intent) + one(warnings), 'order')
  return order
}

export function progressToWire(progress: OrderProgress): ProgressWire {
  return {
    status: progress.status,
    filled: String(progress.filled),
    pending: String(progress.pending),
    open: String(progress.open),
    created_at_ms: progress.createdAtMs,
    updated_at_ms: progress.updatedAtMs,
    held_reason: progress.heldReason,
    cancel_reason: progress.cancelReason,
    cancelled_at_ms: progress.cancelledAtMs,
  }
}

/** The inverse of progressToWire for parsed JSON. Throws MalformedMessage unless it is a progress's wire form. */
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

function actionInOrder(action: ActionJson): ActionJson {
  return {
    subaccount_id: action.subaccount_id,
    nonce: action.nonce,
    module: action.module,
    data: action.data,
    expiry: action.expiry,
    owner: action.owner,
    signer: action.signer,
  }
}

function actionFromWire(value: unknown): ActionJson {
  const wire = fieldsOf<ActionJson>(value, 'action')
  const action = {
    subaccount_id: readText(wire.subaccount_id, 'action.subaccount_id'),
    nonce: readText(wire.nonce, 'action.nonce'),
    module: readText(wire.module, 'action.module'),
    data: readText(wire.data, 'action.data'),
    expiry: readText(wire.expiry, 'action.expiry'),
    owner: readText(wire.owner, 'action.owner'),
    signer: readText(wire.signer, 'action.signer'),
  }
  assertClosed(wire, 7, 'action')
  return action
}

function intentInOrder(intent: UiIntent): UiIntent {
  return { side: intent.side, price: intent.price, size: intent.size }
}

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
