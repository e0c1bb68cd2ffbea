import { z } from 'zod'
import { marketEntries } from '../../core/records/market-entry.js'
import { MarketEntry } from '../../interface/market.js'
import { marketsOnChain } from '../chain-markets.js'
import { refuse } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { readRefusals, type Route } from '../route.js'

/** `GET /v1/markets`: the enabled markets. */
export const getMarkets: Route = asOf({
  method: 'GET',
  path: '/v1/markets',
  operation: {
    id: 'listMarkets',
    tag: 'Market data',
    summary: 'List the enabled markets',
    responses: {
      200: { description: 'By identifier, in byte order.', body: z.array(MarketEntry) },
      ...readRefusals,
    },
  },
  handler: (deps) => async (ctx) => {
    const behind = await untilShown(ctx, deps)
    if (behind !== undefined) return refuse(ctx, behind)
    const shown = await marketsOnChain(deps)
    ctx.body = deps.readModel.atOnce(() => {
      sayProjected(ctx, deps)
      return marketEntries(deps.markets, (market) => ({
        lastTradeSec: deps.readModel.lastTradeSec(market),
        ...shown.get(market),
      }))
    })
  },
})
