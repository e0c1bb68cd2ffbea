import { z } from 'zod'
import { askCancelOrder } from '../../bus-schemas/subjects.js'
import { refusals } from '../../core/entry/refusals.js'
import { CancelOrder, OrderAnswer } from '../../interface/order.js'
import { serviceAuthHeader } from '../../interface/venue.js'
import { askIntake } from '../../runtime/bus/ask-order.js'
import { jsonObjectOf, readBody } from '../../runtime/http/read-body.js'
import { BODY_LIMITS, refuse } from '../context.js'
import { answerOrder, refuseOrder } from '../orders.js'
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
      200: { description: 'The order as the cancel left it.', body: OrderAnswer },
      ...bodyRefusals,
      400: refused('Malformed.'),
      403: refused(
        'A protected namespace, or a proof that is missing, void another owner’s; or a page of an origin that is not allowed.',
      ),
      404: refused('No active order of this owner with this nonce.'),
      500: refused('Not known whether it was cancelled: safe to retry.'),
    },
  },
  handler: (deps) => async (ctx) => {
    const read = await readBody(ctx.req, BODY_LIMITS)
    if ('refusal' in read) return refuse(ctx, read.refusal)
    const { body } = read
    const service_auth = ctx.get(deps.auth.header)
    const request = {
      request_id: ctx.state.requestId,
      body,
      ...(service_auth !== '' && { service_auth }),
    }
    const answer = await askIntake(deps.bus, askCancelOrder, request)
    if (answer?.kind === 'order') return answerOrder(ctx, deps, answer)
    if (jsonObjectOf(body.toString()) === undefined) return refuse(ctx, refusals.invalidJsonBody)
    if (answer === undefined) return refuse(ctx, refusals.cancelTarget)
    await refuseOrder(ctx, deps, answer.refusal)
  },
}
