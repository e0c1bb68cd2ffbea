import { z } from 'zod'
import { refusals } from '../../core/entry/refusals.js'
import { tradesPage } from '../../core/records/trade-record.js'
import { MarketQuery } from '../../interface/market.js'
import { TradesPage, TradesQuery } from '../../interface/trade.js'
import { shownOnChain } from '../chain-markets.js'
import { refuse } from '../context.js'
import { askedPast, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** `GET /v1/trades`: a market's fills, newest first, with its trailing 24 hours. */
export const getTrades: Route = {
  method: 'GET',
  path: '/v1/trades',
  operation: {
    id: 'listTrades',
    tag: 'Market data',
    summary: 'List the fills of a market',
    query: z.object({ ...MarketQuery.shape, ...TradesQuery.shape }),
    responses: {
      200: {
        description: 'One page, with the trailing day.',
        body: TradesPage,
        headers: aliasHeaders,
      },
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const found = askedPast(ctx, deps)
    if ('refusal' in found) return refuse(ctx, found.refusal)
    const query = readQuery(ctx, TradesQuery, {
      limit: refusals.pageLimit,
      before_trade_id: refusals.beforeTradeId,
    })
    if ('refusal' in query) return refuse(ctx, query.refusal)
    const { market } = found
    if (!(await deps.ownWrites.shown(market.market))) return refuse(ctx, refusals.readBehind)
    const shown = await shownOnChain(deps, market)
    // Without `before_trade_id` every trade id lies below the bound.
    const { limit, before_trade_id: before = Number.MAX_SAFE_INTEGER } = query
    ctx.body = tradesPage(market, deps.readModel.trades(market.market, limit, before), {
      limit,
      stats: deps.readModel.stats24h(market.market, deps.nowMs()),
      lastTradeSec: deps.readModel.lastTradeSec(market.market),
      ...shown,
    })
  },
}
