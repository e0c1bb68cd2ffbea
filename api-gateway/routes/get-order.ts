import { z } from 'zod'
import { refusals } from '../../core/entry/refusals.js'
import { orderLookupJson } from '../../core/records/order-record.js'
import { OrderLookup } from '../../interface/order.js'
import { orderId } from '../../interface/values.js'
import { answerJson } from '../../runtime/http/server.js'
import { refuse } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { marketNamed } from '../orders.js'
import { readRefusals, refused, type Route } from '../route.js'

/** `GET /v1/orders/{order_id}`: the order in any status, 404 when no such order was ever accepted. */
export const getOrder: Route = asOf({
  method: 'GET',
  path: '/v1/orders/:order_id',
  operation: {
    id: 'lookUpOrder',
    tag: 'Orders',
    summary: 'Look one order up by its id',
    path: z.object({ order_id: orderId }),
    responses: {
      200: { description: 'The order wherever it stands.', body: OrderLookup },
      404: refused(
        'No such order is stored: none was taken, its market has not decided it yet, or it ended without a fill more than 30 days ago. After a 500 of its placement, send that again rather than another order.',
      ),
      ...readRefusals,
    },
  },
  handler: (deps) => async (ctx) => {
    const behind = await untilShown(ctx, deps)
    if (behind !== undefined) return refuse(ctx, behind)
    const stored = deps.readModel.atOnce(() => {
      const found = deps.readModel.order(ctx.params.order_id ?? '')
      sayProjected(ctx, deps, found?.order.market)
      return found
    })
    if (stored === undefined) return refuse(ctx, refusals.orderNotFound)
    answerJson(ctx, orderLookupJson(marketNamed(deps, stored.order.market), stored))
  },
})
