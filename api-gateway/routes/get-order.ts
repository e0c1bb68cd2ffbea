import { orderLookupJson } from '../../core/records/order-record.js'
import { refusals } from '../../core/refusals.js'
import { answerJson } from '../answer-json.js'
import { marketNamed } from '../answer-order.js'
import type { GatewayDeps, Handler } from '../context.js'
import { refuse } from '../refuse.js'

/** `GET /v1/orders/{order_id}`: the order wherever it stands, 404 when no such order was ever taken. */
export function getOrder(deps: GatewayDeps): Handler {
  return async (ctx) => {
    if (!(await deps.ownWrites.shown())) return refuse(ctx, refusals.readBehind)
    const stored = deps.readModel.order(ctx.params.order_id ?? '')
    if (stored === undefined) return refuse(ctx, refusals.orderNotFound)
    const { order, progress } = stored
    answerJson(ctx, orderLookupJson(marketNamed(deps, order.market), order, progress))
  }
}
