import { z } from 'zod'
import { refusals } from '../../core/entry/refusals.js'
import { orderRecordJson } from '../../core/records/order-record.js'
import { HistoryQuery, OrderHistoryPage } from '../../interface/order.js'
import { serviceAuthHeader } from '../../interface/venue.js'
import { answerJson } from '../../runtime/http/server.js'
import { refuse } from '../context.js'
import { marketNamed } from '../orders.js'
import { nextBefore, readHistoryPage, serviceAuth } from '../read-request.js'
import { historyRefusals, uncached, type Route } from '../route.js'

/** `GET /v1/orders`: every order of the frame's owner, in any status, newest first. */
export const getOrders: Route = {
  method: 'GET',
  path: '/v1/orders',
  operation: {
    id: 'listOrders',
    tag: 'History',
    summary: 'List one’s own orders, newest first',
    headers: z.object({ 'X-Service-Auth': serviceAuthHeader }),
    query: HistoryQuery,
    responses: {
      200: uncached({ description: 'One page.', body: OrderHistoryPage }),
      ...historyRefusals,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const auth = serviceAuth(ctx, deps)
    if ('refusal' in auth) return refuse(ctx, auth.refusal)
    const page = readHistoryPage(ctx, 'orders')
    if ('refusal' in page) return refuse(ctx, page.refusal)
    if (!(await deps.ownWrites.shown())) return refuse(ctx, refusals.readBehind)
    const orders = deps.readModel.orderHistory(auth.owner, page)
    const records = orders.map((stored) =>
      orderRecordJson(marketNamed(deps, stored.order.market), stored),
    )
    const { next_before: next } = nextBefore('orders', orders, page)
    const more = next === undefined ? '' : `,"next_before":"${next}"`
    answerJson(ctx, `{"orders":[${records.join(',')}]${more}}`)
  },
}
