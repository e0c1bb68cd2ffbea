import { z } from 'zod'
import { refusals } from '../../core/entry/refusals.js'
import { Explanation } from '../../interface/explanation.js'
import { orderId } from '../../interface/values.js'
import { refuse } from '../context.js'
import { explainOrder } from '../explain-order.js'
import { marketNamed } from '../orders.js'
import { readRefusals, refused, tooManyReads, type Route } from '../route.js'

/** `GET /v1/orders/{order_id}/explain`: what became of an order and why; 404 when no such order was ever accepted. */
export const getOrderExplanation: Route = {
  method: 'GET',
  path: '/v1/orders/:order_id/explain',
  operation: {
    id: 'explainOrder',
    tag: 'Orders',
    summary: 'Explain what became of an order, and what would release it',
    description:
      'As public as the order record: why the order was held or cancelled, what the chain refused and with which revert, which ' +
      'matches settled in which transactions. What its account has is not part of it.',
    path: z.object({ order_id: orderId }),
    responses: {
      200: { description: 'Its life, in codes and in sentences.', body: Explanation },
      404: refused('No such order was ever taken.'),
      ...readRefusals,
      503: tooManyReads,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    if (!(await deps.ownWrites.shown())) return refuse(ctx, refusals.readBehind)
    const stored = deps.readModel.order(ctx.params.order_id ?? '')
    if (stored === undefined) return refuse(ctx, refusals.orderNotFound)
    const { order, progress } = stored
    const life = deps.readModel.orderLife(order, progress.createdAtMs)
    ctx.body = explainOrder(marketNamed(deps, order.market), stored, life) satisfies Explanation
  },
}
