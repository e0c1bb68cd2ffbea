import { formatDecimal } from '../decimal.js'
import { MAX_BATCH_ORDERS } from '../limits.js'
import type { AmountE18 } from '../money.js'
import { badRequest, refuse, type Refusal } from './refusals.js'

const cannotChange = refuse(422)

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
