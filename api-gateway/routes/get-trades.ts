import { z } from 'zod'
import { refusals } from '../../core/entry/refusals.js'
import { tradesPage } from '../../core/records/trade-record.js'
import { MarketQuery } from '../../interface/market.js'
import { TradesPage, TradesQuery } from '../../interface/trade.js'
import { shownOnChain } from '../chain-markets.js'
import { refuse } from '../context.js'
import { askedPast, RANGE_REFUSALS, readQuery, readRange } from '../read-request.js'
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
      ...RANGE_REFUSALS,
    })
    if ('refusal' in query) return refuse(ctx, query.refusal)
    const range = readRange(query)
    if ('refusal' in range) return refuse(ctx, range.refusal)
    const { market } = found
    if (!(await deps.ownWrites.shown(market.market))) return refuse(ctx, refusals.readBehind)
    const shown = await shownOnChain(deps, market)
    const { limit, before_trade_id: beforeTradeId } = query
    const page = { limit, beforeTradeId, ...range, isWithReversed: true }
    const trades =
      range.fromMs === undefined && range.endMs === undefined
        ? deps.readModel.trades(market.market, limit, beforeTradeId)
        : deps.readModel.tradesWithin(market.market, page)
    ctx.body = tradesPage(market, trades, {
      limit,
      stats: deps.readModel.stats24h(market.market, deps.nowMs()),
      lastTradeSec: deps.readModel.lastTradeSec(market.market),
      ...shown,
    })
  },
}
