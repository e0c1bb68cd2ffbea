import { askPlaceOrder } from '../../bus-schemas/subjects.js'
import { refusals } from '../../core/refusals.js'
import { answerOrder, refuseOrder } from '../answer-order.js'
import { askIntake } from '../ask-intake.js'
import type { GatewayDeps, Handler } from '../context.js'
import { jsonObjectOf, readBody } from '../read-json-body.js'
import { refuse } from '../refuse.js'

const LOGGED_ID_LENGTH = 128

/**
 * `POST /v1/orders`: 200 `{order}` once the market's matcher has decided. The intake parses the body in any case; here only
 * one that became no order is read, to be named in the log and told apart from what is no JSON at all.
 */
export function postOrders(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const read = await readBody(ctx)
    if ('refusal' in read) return refuse(ctx, read.refusal)
    const { body } = read
    const request = { request_id: ctx.state.requestId, body }
    const answer = await askIntake(deps.bus, askPlaceOrder, request)
    if (answer?.kind === 'order') return answerOrder(ctx, deps, answer)
    const fields = jsonObjectOf(body.toString())
    if (fields === undefined) return refuse(ctx, refusals.invalidJsonBody)
    const { order_id } = fields
    if (typeof order_id === 'string') {
      ctx.state.logged.order_id = order_id.slice(0, LOGGED_ID_LENGTH)
    }
    if (answer === undefined) return refuse(ctx, refusals.outcomeUnknown)
    await refuseOrder(ctx, deps, answer.refusal)
  }
}
