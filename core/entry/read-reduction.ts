import { asJsonObject, fieldOf } from '../json.js'
import { isNegativeDecimal, parseDecimal } from '../decimal.js'
import { amountE18, type AmountE18 } from '../money.js'
import { changeRefusals } from './change-refusals.js'
import { readCancel, type CancelRequest } from './read-cancel.js'
import { fieldRequired, invalidDecimal, type Checked } from './refusals.js'

/** What a reduction asks for. */
export interface ReductionRequest extends CancelRequest {
  /** What the order is to ask for in all, not yet judged by the market's steps; 0 cancels it. */
  readonly desired: AmountE18
}

/** Reads the body of `POST /v1/orders/reduce`: a cancel with an amount. Pure. */
export function readReduction(body: unknown): Checked<ReductionRequest> {
  const cancel = readCancel(body)
  if ('refusal' in cancel) return cancel
  const sent = fieldOf(asJsonObject(body) ?? {}, 'desired_amount')
  if (sent === undefined) return { refusal: fieldRequired('desired_amount') }
  if (isNegativeDecimal(sent)) return { refusal: changeRefusals.reductionNegative }
  const value = parseDecimal(sent, 18)
  if (value === undefined) return { refusal: invalidDecimal('desired_amount', sent, 18) }
  return { ...cancel, desired: amountE18(value) }
}
