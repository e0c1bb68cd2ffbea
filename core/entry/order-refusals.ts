import { ORDER_OPTIONS, type OptionName } from '../../interface/order-options.js'
import { formatDecimal } from '../decimal.js'
import {
  LEASE_MAX_SEC,
  LEASE_MIN_SEC,
  MAX_BATCH_ORDERS,
  MAX_CANCEL_PROOF_SEC,
  MAX_CANCELLED_IDS,
} from '../limits.js'
import { UNGROWN_ORDERS_MAX } from '../model/limits.js'
import type { AmountE18 } from '../money.js'
import { badRequest, refuse, type Refusal } from './refusals.js'

const cannotChange = refuse(422)
/** Most characters of a sent name in an answer. */
const MAX_NAME_SHOWN = 64

/** Refusals of replacements and reductions of orders; their texts are fixed. Where one is refused nothing has changed. */
export const changeRefusals = {
  replacementFilled: badRequest(
    'replacement_filled_amount',
    'filled_amount must be 0 or absent in a replacement: the market counts what the replaced order has filled',
    { field: 'filled_amount' },
  ),
  reductionNegative: badRequest('desired_amount_negative', 'desired_amount cannot be negative', {
    field: 'desired_amount',
  }),
  replacementUnchecked: refuse(500)(
    'replacement_unchecked',
    'the chain could not be asked about the signature: nothing was replaced, safe to retry',
  ),
  /** Decided by the market, as the following; the order id and the nonce of the replacement are used. */
  replacementDiffers: cannotChange(
    'replacement_differs',
    'the replacement must be of the market, the subaccount and the side of the order that it replaces',
  ),
  replacementTooSmall: cannotChange(
    'replacement_too_small',
    'desired_amount must be above what the replaced order has filled and pending',
    { field: 'desired_amount' },
  ),
  replacementEnds: cannotChange(
    'replacement_ends',
    'the replacement would end with its placement: the order that it replaces stays',
  ),
  /** By the intake before the log, or by the market, whose feed then has a CommandRefused. */
  commandRefused: cannotChange(
    'command_refused',
    'the market cannot carry this out and has changed nothing: please report it',
  ),
} as const satisfies Record<string, Refusal>

/** `least` is filled or pending of the order. */
export const reductionTooSmall = (least: AmountE18): Refusal =>
  cannotChange(
    'reduction_too_small',
    `desired_amount must be 0 or at least ${formatDecimal(least, 18)}, which is filled or pending`,
    { field: 'desired_amount' },
  )

/** `most` is what the order asks for now. */
export const reductionNotSmaller = (most: AmountE18): Refusal =>
  cannotChange(
    'reduction_not_smaller',
    `desired_amount must be at most ${formatDecimal(most, 18)}, which the order asks for now`,
    { field: 'desired_amount' },
  )

export const batchRefusals = {
  orders: badRequest('invalid_orders', `orders must be a list of 1 to ${MAX_BATCH_ORDERS} orders`, {
    field: 'orders',
  }),
} as const satisfies Record<string, Refusal>

/** Refusals by how an order may match and rest, and by the limits of a market. */
export const controlRefusals = {
  postOnlyImmediate: badRequest(
    'post_only_immediate',
    'post_only cannot be combined with time_in_force IOC or FOK',
    { field: 'post_only' },
  ),
  /** Decided by the market. */
  postOnlyWouldCross: refuse(422)(
    'post_only_would_cross',
    'post_only order would take liquidity: its order_id and nonce are used',
    { field: 'post_only' },
  ),
  /** Decided by the market. */
  openOrderLimit: badRequest(
    'open_order_limit',
    "the account has as many live orders as the market's open_order_limit allows: order_id and nonce of this one are used",
    { field: 'subaccount_id' },
  ),
  /** Decided by the market. */
  signerOrderLimit: badRequest(
    'signer_order_limit',
    `the signer is a contract or a delegated key that has yet to pay for its gas here, and its owner may have ${UNGROWN_ORDERS_MAX} live orders in the market until then: order_id and nonce of this one are used`,
    { field: 'signer_address' },
  ),
} as const satisfies Record<string, Refusal>

/** An order of less quote than the market's `min_notional`; the texts are decimals of the quote's symbol. */
export const belowMinNotional = (notional: string, least: string, symbol: string): Refusal =>
  badRequest(
    'notional_below_minimum',
    `order notional ${notional} ${symbol} is below the minimum ${least} ${symbol}`,
    { field: 'desired_amount', detail: { notional, min_notional: least } },
  )

/** Of a cancel of all orders: a misspelt filter would cancel more than it was meant to. */
export function unknownField(name: string): Refusal {
  const field = name.slice(0, MAX_NAME_SHOWN)
  return badRequest('unknown_field', `unknown field ${field}: nothing was done`, { field })
}

/** Refusals of cancels of many orders and of leases; their texts are fixed. None of them has cancelled anything. */
export const cancelsRefusals = {
  orderIds: badRequest(
    'invalid_order_ids',
    `order_ids must be a list of 1 to ${MAX_CANCELLED_IDS} order ids`,
    { field: 'order_ids' },
  ),
  seconds: badRequest(
    'invalid_seconds',
    `seconds must be 0 or an integer from ${LEASE_MIN_SEC} to ${LEASE_MAX_SEC}`,
    { field: 'seconds' },
  ),
  issuedAtInteger: badRequest('invalid_issued_at', 'issued_at must be an integer', {
    field: 'issued_at',
  }),
  issuedAtFuture: refuse(403)('cancel_proof_early', 'issued_at is in the future', {
    field: 'issued_at',
  }),
  proofOrder: badRequest('invalid_expiry', 'expiry must be after issued_at', { field: 'expiry' }),
  proofTooLong: badRequest(
    'cancel_proof_too_long',
    `the signed cancel may be valid for at most ${MAX_CANCEL_PROOF_SEC} seconds`,
    { field: 'expiry' },
  ),
  proofUsed: refuse(403)('cancel_proof_used', 'the signed cancel was used before: sign a new one'),
  proofUseUnknown: refuse(500)(
    'cancel_proof_use_unknown',
    'the use of the signed cancel could not be noted: nothing was cancelled, safe to retry with a new one',
  ),
  /** Decided by the market. */
  leaseEnded: refuse(409)('lease_ended', 'the lease has ended: the orders under it are cancelled'),
  tooManyLeases: refuse(500)(
    'too_many_leases',
    'the market has too many leases: nothing was set, safe to retry',
  ),
  /** Of one order in the answer to a cancel of many. */
  otherOwner: refuse(403)('order_of_another_owner', 'the order belongs to another owner'),
} as const satisfies Record<string, Refusal>

/** Refusals of values that an option cannot have, by its name. */
export const optionRefusals = Object.fromEntries(
  ORDER_OPTIONS.map(({ name, declared: { must } }) => [
    name,
    badRequest(`invalid_${name}`, must, { field: name }),
  ]),
) as Readonly<Record<OptionName, Refusal>>
