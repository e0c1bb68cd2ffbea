import { z } from 'zod'
import { askCancelOrder } from '../../bus-schemas/subjects.js'
import { CancelOrder, OrderAnswer } from '../../interface/order.js'
import { serviceAuthHeader } from '../../interface/venue.js'
import { sayingSeqs } from '../feed-seqs.js'
import { changeByProof } from '../orders.js'
import { bodyRefusals, refused, type Route } from '../route.js'

/** `POST /v1/orders/cancel`: 200 `{order}` with the order as the cancel left it. */
export const postOrdersCancel: Route = {
  method: 'POST',
  path: '/v1/orders/cancel',
  operation: {
    id: 'cancelOrder',
    tag: 'Orders',
    summary: 'Cancel an active order',
    description:
      'What is already matched still settles. A venue may be set up to refuse cancels without proof.',
    headers: z.object({
      'X-Service-Auth': serviceAuthHeader
        .optional()
        .describe('Proof of the owner, in place of a signature.'),
    }),
    body: CancelOrder,
    responses: {
      200: sayingSeqs({ description: 'The order as the cancel left it.', body: OrderAnswer }),
      ...bodyRefusals,
      400: refused('Malformed.'),
      403: refused(
        'A protected namespace, or a proof that is missing, void another owner’s; or a page of an origin that is not allowed.',
      ),
      404: refused('No active order of this owner with this nonce.'),
      500: {
        ...refused('Not known whether it was cancelled: safe to retry.'),
        headers: ['Retry-After'],
      },
    },
  },
  handler: (deps) => (ctx) => changeByProof(ctx, deps, askCancelOrder),
}
