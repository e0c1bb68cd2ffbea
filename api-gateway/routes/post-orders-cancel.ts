import { askCancelOrder } from '../../bus-schemas/subjects.js'
import { refusals } from '../../core/refusals.js'
import { answerOrder, refuseOrder } from '../answer-order.js'
import { askIntake } from '../ask-intake.js'
import type { GatewayDeps, Handler } from '../context.js'
import { jsonObjectOf, readBody } from '../read-json-body.js'
import { refuse } from '../refuse.js'

/** `POST /v1/orders/cancel`: 200 `{order}` with the order as the cancel left it. */
export function postOrdersCancel(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const read = await readBody(ctx)
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
  }
}
