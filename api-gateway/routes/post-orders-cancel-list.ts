import { CancelList, CancelsAnswer } from '../../interface/cancels.js'
import { answerCancels, askMarkets, cancelsHeaders, cancelsRefused } from '../cancels.js'
import { sayingSeqs } from '../feed-seqs.js'
import type { Route } from '../route.js'

/** `POST /v1/orders/cancel-list`: 200 with what became of each order. */
export const postOrdersCancelList: Route = {
  method: 'POST',
  path: '/v1/orders/cancel-list',
  operation: {
    id: 'cancelList',
    tag: 'Orders',
    summary: 'Cancel orders by their ids',
    description: 'Each order for itself, in any markets.',
    headers: cancelsHeaders,
    body: CancelList,
    responses: {
      200: sayingSeqs({ description: 'What became of each order.', body: CancelsAnswer }),
      ...cancelsRefused,
    },
  },
  handler: (deps) => async (ctx) => {
    const asked = await askMarkets(ctx, deps, 'cancel_orders')
    if (asked !== undefined) answerCancels(ctx, asked)
  },
}
