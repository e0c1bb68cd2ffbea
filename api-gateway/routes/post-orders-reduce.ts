import { z } from 'zod'
import { askReduceOrder } from '../../bus-schemas/subjects.js'
import { OrderAnswer } from '../../interface/order.js'
import { ReduceOrder } from '../../interface/order-changes.js'
import { serviceAuthHeader } from '../../interface/venue.js'
import { sayingSeqs } from '../feed-seqs.js'
import { changeByProof } from '../orders.js'
import { bodyRefusals, refused, type Route } from '../route.js'

/** `POST /v1/orders/reduce`: 200 `{order}` with the order as the reduction left it. */
export const postOrdersReduce: Route = {
  method: 'POST',
  path: '/v1/orders/reduce',
  operation: {
    id: 'reduceOrder',
    tag: 'Orders',
    summary: 'Shrink an active order in place',
    description:
      'The order keeps its id and its priority. It needs the proof of a cancel. An amount of `0`, or of what is filled and pending, cancels it. ' +
      'Safe to send again: an order that has the amount already is answered as it stands.',
    headers: z.object({
      'X-Service-Auth': serviceAuthHeader
        .optional()
        .describe('Proof of the owner, in place of a signature.'),
    }),
    body: ReduceOrder,
    responses: {
      200: sayingSeqs({ description: 'The order as the reduction left it.', body: OrderAnswer }),
      ...bodyRefusals,
      400: refused('Malformed, or no amount of the market.'),
      403: refused(
        'A protected namespace, or a proof that is missing, void or another owner’s; or a page of an origin that is not allowed.',
      ),
      404: refused('No active order of this owner with this nonce.'),
      422: refused(
        'Below what is filled and pending (`reduction_too_small`), or above what the order asks for (`reduction_not_smaller`).',
      ),
      500: {
        ...refused('Not known whether it was reduced: safe to retry.'),
        headers: ['Retry-After'],
      },
    },
  },
  handler: (deps) => (ctx) => changeByProof(ctx, deps, askReduceOrder),
}
