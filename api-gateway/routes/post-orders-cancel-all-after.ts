import { CancelAllAfter, LeaseAnswer } from '../../interface/cancels.js'
import {
  answerLeases,
  askMarkets,
  cancelsHeaders,
  cancelsRefused,
  ofNamedMarket,
} from '../cancels.js'
import type { Route } from '../route.js'

/** `POST /v1/orders/cancel-all-after`: sets or disarms the dead-man switch of an owner. */
export const postOrdersCancelAllAfter: Route = {
  method: 'POST',
  path: '/v1/orders/cancel-all-after',
  operation: {
    id: 'cancelAllAfter',
    tag: 'Orders',
    summary: 'Cancel all orders unless this is sent again in time',
    description:
      'Each market keeps the time in its log and cancels by it, also when the venue was down meanwhile.',
    headers: cancelsHeaders,
    body: CancelAllAfter,
    responses: ofNamedMarket({
      200: { description: 'Until when the orders are safe.', body: LeaseAnswer },
      ...cancelsRefused,
    }),
  },
  handler: (deps) => async (ctx) => {
    const asked = await askMarkets(ctx, deps, 'cancel_all_after')
    if (asked !== undefined) answerLeases(ctx, asked)
  },
}
