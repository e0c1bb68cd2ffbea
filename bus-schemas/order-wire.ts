import { z } from 'zod'
import { amountE18, feePerUnitE18, priceE18 } from '../core/money.js'
import type { Order, OrderProgress } from '../core/order.js'
import { addressText, asAddress, asHex, hexText, uintText, wholeNumber } from './wire.js'

const sideWire = z.enum(['buy', 'sell'])
const statusWire = z.enum(['active', 'matching', 'filled', 'cancelled', 'expired'])
/** Why an order rests without being open. */
export const holdWire = z.enum([
  'signature_unchecked',
  'settlement_refused',
  'expiring',
  'continuing',
  'insufficient_balance',
  'not_in_custody',
])

const actionWire = z.strictObject({
  subaccount_id: z.string(),
  nonce: z.string(),
  module: z.string(),
  data: z.string(),
  expiry: z.string(),
  owner: z.string(),
  signer: z.string(),
})

/** An order as messages and stored rows hold it: amounts at 1e18 in decimal text, the signed action as it came. */
export const orderWire = z.strictObject({
  order_id: z.string(),
  market: z.string(),
  owner: addressText,
  signer: addressText,
  subaccount_id: uintText,
  recipient_id: uintText,
  nonce: uintText,
  side: sideWire,
  asset_address: addressText,
  sub_id: uintText,
  desired_amount: uintText,
  initial_filled: uintText,
  limit_price: uintText,
  worst_fee: uintText,
  expiry_sec: wholeNumber,
  good_until_sec: wholeNumber,
  action: actionWire,
  signature: hexText,
  ui_intent: z
    .strictObject({ side: sideWire, price: z.string(), size: z.string() })
    .exactOptional(),
  signature_status: z.enum(['checked', 'unchecked']),
  warnings: z.array(z.string()).readonly().exactOptional(),
})
export type OrderWire = z.infer<typeof orderWire>

/** Where an order stands, amounts at 1e18 in decimal text. */
export const progressWire = z.strictObject({
  status: statusWire,
  filled: uintText,
  pending: uintText,
  open: uintText,
  created_at_ms: wholeNumber,
  updated_at_ms: wholeNumber,
  held_reason: holdWire.exactOptional(),
  cancel_reason: z.string().exactOptional(),
  cancelled_at_ms: wholeNumber.exactOptional(),
})
export type ProgressWire = z.infer<typeof progressWire>

export { sideWire, statusWire }

/** The order's wire form; equal orders give equal JSON whatever order their keys were set in. */
export function orderToWire(order: Order): OrderWire {
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
    ...(order.uiIntent !== undefined && { ui_intent: intentInOrder(order.uiIntent) }),
    signature_status: order.signatureStatus,
    ...(order.warnings !== undefined && { warnings: order.warnings }),
  }
}

/** The inverse of orderToWire. */
export function orderFromWire(wire: OrderWire): Order {
  return {
    orderId: wire.order_id,
    market: wire.market,
    owner: asAddress(wire.owner),
    signer: asAddress(wire.signer),
    subaccountId: BigInt(wire.subaccount_id),
    recipientId: BigInt(wire.recipient_id),
    nonce: BigInt(wire.nonce),
    side: wire.side,
    assetAddress: asAddress(wire.asset_address),
    subId: BigInt(wire.sub_id),
    desiredAmount: amountE18(BigInt(wire.desired_amount)),
    initialFilled: amountE18(BigInt(wire.initial_filled)),
    limitPrice: priceE18(BigInt(wire.limit_price)),
    worstFee: feePerUnitE18(BigInt(wire.worst_fee)),
    expirySec: wire.expiry_sec,
    goodUntilSec: wire.good_until_sec,
    action: actionInOrder(wire.action),
    signature: asHex(wire.signature),
    ...(wire.ui_intent !== undefined && { uiIntent: intentInOrder(wire.ui_intent) }),
    signatureStatus: wire.signature_status,
    ...(wire.warnings !== undefined && { warnings: wire.warnings }),
  }
}

export function progressToWire(progress: OrderProgress): ProgressWire {
  return {
    status: progress.status,
    filled: String(progress.filled),
    pending: String(progress.pending),
    open: String(progress.open),
    created_at_ms: progress.createdAtMs,
    updated_at_ms: progress.updatedAtMs,
    ...(progress.heldReason !== undefined && { held_reason: progress.heldReason }),
    ...(progress.cancelReason !== undefined && { cancel_reason: progress.cancelReason }),
    ...(progress.cancelledAtMs !== undefined && { cancelled_at_ms: progress.cancelledAtMs }),
  }
}

/** The inverse of progressToWire. */
export function progressFromWire(wire: ProgressWire): OrderProgress {
  return {
    status: wire.status,
    filled: amountE18(BigInt(wire.filled)),
    pending: amountE18(BigInt(wire.pending)),
    open: amountE18(BigInt(wire.open)),
    createdAtMs: wire.created_at_ms,
    updatedAtMs: wire.updated_at_ms,
    ...(wire.held_reason !== undefined && { heldReason: wire.held_reason }),
    ...(wire.cancel_reason !== undefined && { cancelReason: wire.cancel_reason }),
    ...(wire.cancelled_at_ms !== undefined && { cancelledAtMs: wire.cancelled_at_ms }),
  }
}

function actionInOrder(action: Order['action']): Order['action'] {
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

function intentInOrder(intent: NonNullable<Order['uiIntent']>): NonNullable<Order['uiIntent']> {
  return { side: intent.side, price: intent.price, size: intent.size }
}
