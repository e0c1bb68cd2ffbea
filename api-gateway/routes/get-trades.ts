import { z } from 'zod'
import { refusals } from '../../core/entry/refusals.js'
import { tradesPage } from '../../core/records/trade-record.js'
import { MarketQuery } from '../../interface/market.js'
import { TradesPage, TradesQuery } from '../../interface/trade.js'
import { shownOnChain } from '../chain-markets.js'
import { refuse } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { askedPast, RANGE_REFUSALS, readQuery, readRange } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** `GET /v1/trades`: a market's fills, newest first, with its trailing 24 hours. */
export const getTrades: Route = asOf({
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
    const behind = await untilShown(ctx, deps, market.market)
    if (behind !== undefined) return refuse(ctx, behind)
    const shown = await shownOnChain(deps, market)
    const { limit, before_trade_id: beforeTradeId } = query
    const page = { limit, beforeTradeId, ...range, isWithReversed: true }
    const { readModel } = deps
    ctx.body = readModel.atOnce(() => {
      sayProjected(ctx, deps, market.market)
      const trades =
        range.fromMs === undefined && range.endMs === undefined
          ? readModel.trades(market.market, limit, beforeTradeId)
          : readModel.tradesWithin(market.market, page)
      return tradesPage(market, trades, {
        limit,
        stats: readModel.stats24h(market.market, deps.nowMs()),
        lastTradeSec: readModel.lastTradeSec(market.market),
        ...shown,
      })
    })
  },
})
