import { askPlaceOrder } from '../../bus-schemas/subjects.js'
import { NewOrder, OrderAnswer } from '../../interface/order.js'
import { DuplicateError, OrderError } from '../../interface/venue.js'
import { sayingSeqs } from '../feed-seqs.js'
import { placeByBody } from '../orders.js'
import { bodyRefusals, RATE_HEADERS, refused, type Route } from '../route.js'

const LOGGED_ID_LENGTH = 128

/** `POST /v1/orders`: 200 `{order}` once the market's matcher has decided. */
export const postOrders: Route = {
  method: 'POST',
  path: '/v1/orders',
  operation: {
    id: 'placeOrder',
    tag: 'Orders',
    summary: 'Place a signed order',
    description:
      'Answered once the market has decided: `active`, or `matching` when it crossed at once. ' +
      'Safe to send again with the same `order_id`: a repeat is a 409, never a second order.',
    body: NewOrder,
    responses: {
      200: sayingSeqs({
        description: 'The order as it stands.',
        body: OrderAnswer,
        headers: RATE_HEADERS,
      }),
      400: {
        description:
          'Malformed, inconsistent, not authorized by its signature, or the market takes no new orders; nothing was placed.',
        body: OrderError,
        headers: RATE_HEADERS,
      },
      422: {
        ...refused(
          'A post-only order that would take: nothing was placed, its id and nonce are used. A repeat gets the same answer.',
        ),
        headers: RATE_HEADERS,
      },
      409: { description: 'The id or the nonce is taken.', body: DuplicateError },
      ...bodyRefusals,
      500: {
        ...refused('Not known, or not placed: safe to retry with the same `order_id`.'),
        headers: [...RATE_HEADERS, 'Retry-After'],
      },
    },
  },
  handler: (deps) => (ctx) =>
    placeByBody(ctx, deps, {
      ask: askPlaceOrder,
      onAsked: deps.onOrder,
      onRefused({ order_id }) {
        if (typeof order_id !== 'string') return
        ctx.state.logged.order_id = order_id.slice(0, LOGGED_ID_LENGTH)
      },
    }),
}
