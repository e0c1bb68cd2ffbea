import { z } from 'zod'
import { fillRecord } from '../../core/records/trade-record.js'
import { HistoryQuery } from '../../interface/order.js'
import { FillsPage } from '../../interface/trade.js'
import { serviceAuthHeader } from '../../interface/venue.js'
import { refuse } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { marketNamed } from '../orders.js'
import { nextBefore, readHistoryPage, serviceAuth } from '../read-request.js'
import { historyRefusals, type Route } from '../route.js'

/** `GET /v1/fills`: what the orders of the frame's owner traded, one record for each order's leg, newest first. */
export const getFills: Route = asOf({
  method: 'GET',
  path: '/v1/fills',
  operation: {
    id: 'listFills',
    tag: 'History',
    summary: 'List one’s own fills, newest first',
    headers: z.object({ 'X-Service-Auth': serviceAuthHeader }),
    query: HistoryQuery,
    responses: {
      200: {
        description: 'One page; a trade between two of one’s own orders is listed once for each.',
        body: FillsPage,
      },
      ...historyRefusals,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const auth = await serviceAuth(ctx, deps)
    if ('refusal' in auth) return refuse(ctx, auth.refusal)
    const page = readHistoryPage(ctx, 'fills')
    if ('refusal' in page) return refuse(ctx, page.refusal)
    const behind = await untilShown(ctx, deps)
    if (behind !== undefined) return refuse(ctx, behind)
    const fills = deps.readModel.atOnce(() => {
      sayProjected(ctx, deps)
      return deps.readModel.fills(auth.owner, page)
    })
    ctx.body = {
      fills: fills.map((fill) => fillRecord(marketNamed(deps, fill.market), fill)),
      ...nextBefore('fills', fills, page),
    } satisfies FillsPage
  },
})
