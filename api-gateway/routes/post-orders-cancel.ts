import { askCancelOrder } from '../../bus-schemas/subjects.js'
import { refusals } from '../../core/refusals.js'
import { answerOrder } from '../answer-order.js'
import { askIntake } from '../ask-intake.js'
import type { GatewayDeps, Handler } from '../context.js'
import { readJsonBody } from '../read-json-body.js'
import { refuse } from '../refuse.js'

/** `POST /v1/orders/cancel`: 200 `{order}` with the order as the cancel left it. */
export function postOrdersCancel(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const body = await readJsonBody(ctx)
    if ('refusal' in body) return refuse(ctx, body.refusal)
    const service_auth = ctx.get(deps.auth.header)
    const request = {
      request_id: ctx.state.requestId,
      body: body.text,
      ...(service_auth !== '' && { service_auth }),
    }
    const answer = await askIntake(deps.bus, askCancelOrder, request)
    if (answer === undefined) return refuse(ctx, refusals.cancelTarget)
    await answerOrder(ctx, deps, answer)
  }
}
