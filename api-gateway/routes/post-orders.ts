import { askPlaceOrder } from '../../bus-schemas/subjects.js'
import { refusals } from '../../core/entry/refusals.js'
import { NewOrder, OrderAnswer } from '../../interface/order.js'
import { DuplicateError, OrderError } from '../../interface/venue.js'
import { askIntake } from '../../runtime/bus/ask-intake.js'
import { jsonObjectOf, readBody } from '../../runtime/http/read-body.js'
import { BODY_LIMITS, refuse } from '../context.js'
import { admitOrder, answerOrder, refuseOrder } from '../orders.js'
import { bodyRefusals, RATE_HEADERS, refused, type Route } from '../route.js'

const LOGGED_ID_LENGTH = 128

/**
 * `POST /v1/orders`: 200 `{order}` once the market's matcher has decided. The intake parses the body; the gateway reads it
 * only when it became no order, to log its id and to tell a refused order from text that is not JSON.
 */
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
      200: { description: 'The order as it stands.', body: OrderAnswer, headers: RATE_HEADERS },
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
  handler: (deps) => async (ctx) => {
    const read = await readBody(ctx.req, BODY_LIMITS)
    if ('refusal' in read) return refuse(ctx, read.refusal)
    const { body } = read
    const admitted = admitOrder(ctx, deps.orderRate, body)
    if ('refusal' in admitted) return refuse(ctx, admitted.refusal)
    const request = { request_id: ctx.state.requestId, body }
    const askedAt = performance.now()
    const answer = await askIntake(deps.bus, askPlaceOrder, request)
    deps.onOrder?.((performance.now() - askedAt) / 1_000)
    if (answer !== undefined) {
      admitted.answered(answer.kind === 'refused' ? answer.refusal : undefined)
    }
    if (answer?.kind === 'order') return answerOrder(ctx, deps, answer)
    const fields = jsonObjectOf(body.toString())
    if (fields === undefined) return refuse(ctx, refusals.invalidJsonBody)
    const { order_id } = fields
    if (typeof order_id === 'string') {
      ctx.state.logged.order_id = order_id.slice(0, LOGGED_ID_LENGTH)
    }
    if (answer === undefined) return refuse(ctx, refusals.outcomeUnknown)
    await refuseOrder(ctx, deps, answer.refusal)
  },
}
