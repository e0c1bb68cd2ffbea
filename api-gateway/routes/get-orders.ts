import { historyRecordJson } from '../../core/records/order-record.js'
import { refusals } from '../../core/refusals.js'
import { answerJson } from '../answer-json.js'
import { marketNamed } from '../answer-order.js'
import type { GatewayDeps, Handler } from '../context.js'
import { nextBefore, readHistoryPage } from '../history-page.js'
import { serviceAuth } from '../middleware/service-auth.js'
import { refuse } from '../refuse.js'

/** `GET /v1/orders`: every order of the frame's owner, whatever became of it, newest first. */
export function getOrders(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const auth = serviceAuth(ctx, deps)
    if ('refusal' in auth) return refuse(ctx, auth.refusal)
    const page = readHistoryPage(ctx, 'orders')
    if ('refusal' in page) return refuse(ctx, page.refusal)
    if (!(await deps.ownWrites.shown())) return refuse(ctx, refusals.readBehind)
    const orders = deps.readModel.orderHistory(auth.owner, page)
    const records = orders.map((stored) =>
      historyRecordJson(marketNamed(deps, stored.order.market), stored),
    )
    const { next_before: next } = nextBefore('orders', orders, page)
    const more = next === undefined ? '' : `,"next_before":"${next}"`
    answerJson(ctx, `{"orders":[${records.join(',')}]${more}}`)
  }
}
