import { z } from 'zod'
import { noSuchMarket } from '../../core/entry/find-market.js'
import { readRefusals } from '../../core/entry/read-refusals.js'
import type { OrRefusal } from '../../core/entry/refusals.js'
import { orderRecordJson } from '../../core/records/order-record.js'
import type { LiveFilter } from '../../data/history/read-orders.js'
import { OrderHistoryPage, OrdersQuery } from '../../interface/order.js'
import { MarketError, serviceAuthHeader } from '../../interface/venue.js'
import { answerJson } from '../../runtime/http/server.js'
import { refuse, type GatewayContext, type GatewayDeps } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { marketNamed } from '../orders.js'
import {
  namedMarket,
  nextBefore,
  readHistoryPage,
  readQuery,
  serviceAuth,
} from '../read-request.js'
import { aliasHeaders, historyRefusals, type Route } from '../route.js'

/** `GET /v1/orders`: every order of the frame's owner, in any status, newest first. */
export const getOrders: Route = asOf({
  method: 'GET',
  path: '/v1/orders',
  operation: {
    id: 'listOrders',
    tag: 'History',
    summary: 'List one’s own orders, newest first',
    headers: z.object({ 'X-Service-Auth': serviceAuthHeader }),
    query: OrdersQuery,
    responses: {
      ...historyRefusals,
      200: {
        description: 'One page.',
        body: OrderHistoryPage,
        headers: [...aliasHeaders],
      },
      400: {
        description: 'A bad parameter, or `unknown_market` with the identifiers that exist.',
        body: MarketError,
        headers: [...aliasHeaders],
      },
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const auth = await serviceAuth(ctx, deps)
    if ('refusal' in auth) return refuse(ctx, auth.refusal)
    const page = readHistoryPage(ctx, 'orders')
    if ('refusal' in page) return refuse(ctx, page.refusal)
    const filter = readFilter(ctx, deps)
    if ('refusal' in filter) return refuse(ctx, filter.refusal)
    const behind = await untilShown(ctx, deps)
    if (behind !== undefined) return refuse(ctx, behind)
    const orders = deps.readModel.atOnce(() => {
      sayProjected(ctx, deps, filter.market)
      return filter.status === 'open'
        ? deps.readModel.liveOrders(auth.owner, page, filter)
        : deps.readModel.orderHistory(auth.owner, page)
    })
    const records = orders.map((stored) =>
      orderRecordJson(marketNamed(deps, stored.order.market), stored),
    )
    const { next_before: next } = nextBefore('orders', orders, page)
    const more = next === undefined ? '' : `,"next_before":"${next}"`
    answerJson(ctx, `{"orders":[${records.join(',')}]${more}}`)
  },
})

const FILTER = OrdersQuery.pick({ status: true, market: true, subaccount_id: true })

/** Which of the orders; a market by any of its identifiers, listed or not. */
function readFilter(
  ctx: GatewayContext,
  deps: GatewayDeps,
): OrRefusal<LiveFilter & { readonly status?: 'open' | undefined }> {
  const query = readQuery(ctx, FILTER, {
    status: readRefusals.ordersStatus,
    market: noSuchMarket(deps.markets, ''),
    subaccount_id: readRefusals.subaccountForm,
  })
  if ('refusal' in query) return query
  const { status, market: symbol, subaccount_id: account } = query
  if (status === undefined && (symbol !== undefined || account !== undefined)) {
    return { refusal: readRefusals.openOnly }
  }
  const subaccountId = account === undefined ? undefined : BigInt(account)
  if (symbol === undefined) return { status, subaccountId }
  const found = namedMarket(ctx, deps, symbol)
  return 'refusal' in found ? found : { status, market: found.market.market, subaccountId }
}
