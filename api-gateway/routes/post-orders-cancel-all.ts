import { CancelAll, CancelsAnswer } from '../../interface/cancels.js'
import {
  answerCancels,
  askMarkets,
  cancelsHeaders,
  cancelsRefused,
  ofNamedMarket,
} from '../cancels.js'
import { sayingSeqs } from '../feed-seqs.js'
import type { Route } from '../route.js'

/** `POST /v1/orders/cancel-all`: 200 with what became of each order. */
export const postOrdersCancelAll: Route = {
  method: 'POST',
  path: '/v1/orders/cancel-all',
  operation: {
    id: 'cancelAll',
    tag: 'Orders',
    summary: 'Cancel all orders of an owner',
    description:
      'Also of one market, side or subaccount. One block of each market cancels about a thousand orders; further ones are matched no more and follow at once. What is already matched still settles, and what a failed settlement would return is cancelled.',
    headers: cancelsHeaders,
    body: CancelAll,
    responses: ofNamedMarket({
      200: sayingSeqs({ description: 'What became of each order.', body: CancelsAnswer }),
      ...cancelsRefused,
    }),
  },
  handler: (deps) => async (ctx) => {
    const asked = await askMarkets(ctx, deps, 'cancel_all')
    if (asked !== undefined) answerCancels(ctx, asked)
  },
}
