import { askPlaceOrder } from '../../bus-schemas/subjects.js'
import { refusals } from '../../core/refusals.js'
import { answerOrder } from '../answer-order.js'
import { askIntake } from '../ask-intake.js'
import type { GatewayDeps, Handler } from '../context.js'
import { readJsonBody } from '../read-json-body.js'
import { refuse } from '../refuse.js'

const LOGGED_ID_LENGTH = 128

/** `POST /v1/orders`: 200 `{order}` once the market's matcher has decided. */
export function postOrders(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const body = await readJsonBody(ctx)
    if ('refusal' in body) return refuse(ctx, body.refusal)
    const { order_id } = body.value
    if (typeof order_id === 'string') {
      ctx.state.logged.order_id = order_id.slice(0, LOGGED_ID_LENGTH)
    }
    const request = { request_id: ctx.state.requestId, body: body.text }
    const answer = await askIntake(deps.bus, askPlaceOrder, request)
    if (answer === undefined) return refuse(ctx, refusals.outcomeUnknown)
    await answerOrder(ctx, deps, answer)
  }
}
