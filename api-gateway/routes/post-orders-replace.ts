import { askReplaceOrder } from '../../bus-schemas/subjects.js'
import { ReplaceAnswer, ReplaceOrder } from '../../interface/order-changes.js'
import { DuplicateError, OrderError } from '../../interface/venue.js'
import { sayingSeqs } from '../feed-seqs.js'
import { placeByBody } from '../orders.js'
import { bodyRefusals, RATE_HEADERS, refused, type Route } from '../route.js'

/** `POST /v1/orders/replace`: 200 `{order, replaced}` once the market has cancelled the one and placed the other. */
export const postOrdersReplace: Route = {
  method: 'POST',
  path: '/v1/orders/replace',
  operation: {
    id: 'replaceOrder',
    tag: 'Orders',
    summary: 'Replace an active order by a signed one',
    description:
      'The market cancels the one order and places the other in one step: never are both live, and where the new one is refused the other stays. ' +
      'The new order comes after those of its price. What the replaced order has filled and pending counts as filled of the new one: the rest of `desired_amount` opens. ' +
      'Safe to send again: a repeat is a 409, or the refusal of the first.',
    body: ReplaceOrder,
    responses: {
      200: sayingSeqs({
        description: 'Both orders as they stand.',
        body: ReplaceAnswer,
        headers: RATE_HEADERS,
      }),
      ...bodyRefusals,
      400: {
        description: 'The new order is malformed, inconsistent or not authorized; nothing changed.',
        body: OrderError,
        headers: RATE_HEADERS,
      },
      404: refused(
        'No active order of this owner with `replaces_nonce`. If there was one, the new order’s id and nonce are used.',
      ),
      409: { description: 'The id or the nonce of the new order is taken.', body: DuplicateError },
      422: {
        ...refused(
          'The market refuses it: `replacement_differs`, `replacement_too_small`, `replacement_ends` or `post_only_would_cross`. The order stays; the new one’s id and nonce are used.',
        ),
        headers: RATE_HEADERS,
      },
      500: {
        ...refused('Not known, or nothing changed: safe to retry with the same body.'),
        headers: [...RATE_HEADERS, 'Retry-After'],
      },
    },
  },
  handler: (deps) => (ctx) => placeByBody(ctx, deps, { ask: askReplaceOrder }),
}
