import { refusals, type Refusal } from '../core/entry/refusals.js'
import { parseAddress } from '../core/json.js'
import { jsonObjectOf } from '../runtime/http/read-body.js'
import { admitOrderOf, type OrderRate, type RateLeft } from '../runtime/process/order-rate.js'
import type { GatewayContext } from './context.js'

/** An order that was admitted; `answered` is told the refusal with which it was answered, undefined for an order. */
export interface AdmittedOrder {
  readonly answered: (refusal: Refusal | undefined) => void
}

const UNCOUNTED: AdmittedOrder = { answered: () => undefined }

/**
 * Admits an order of its owner, or refuses it; its answer says in either case what is left. `ahead` orders of the owner stand
 * before it in the same request.
 */
export function admitOrder(
  ctx: GatewayContext,
  rate: OrderRate | undefined,
  body: Pick<Buffer, 'toString'>,
  ahead = 0,
): AdmittedOrder | { readonly refusal: Refusal } {
  const owner = rate && parseAddress(jsonObjectOf(body.toString())?.owner_address)
  if (rate === undefined || owner === undefined) return UNCOUNTED
  const admitted = admitOrderOf(rate, owner, ahead)
  if ('left' in admitted) {
    showLeft(ctx, admitted.left)
    ctx.set('Retry-After', `${admitted.left.nextSec}`)
    return { refusal: refusals.tooManyOrders }
  }
  return {
    answered(refusal) {
      const left = admitted.answered(refusal)
      if (left !== undefined) showLeft(ctx, left)
    },
  }
}

function showLeft(ctx: GatewayContext, { limit, remaining, resetSec }: RateLeft): void {
  ctx.set('RateLimit-Limit', `${limit}`)
  ctx.set('RateLimit-Remaining', `${remaining}`)
  ctx.set('RateLimit-Reset', `${resetSec}`)
}
