import { z } from 'zod'
import { contractOf } from '../../core/contracts/registry.js'
import { noFunding } from '../../core/entry/read-refusals.js'
import { fundingRecord } from '../../core/records/market-data.js'
import { MarketQuery } from '../../interface/market.js'
import { HistoryQuery } from '../../interface/order.js'
import { FundingPage } from '../../interface/prices.js'
import { refuse } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { askedPrices } from '../price-history.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** `GET /v1/funding`: the hourly funding rates of a perpetual as the chain showed them, newest first. */
export const getFunding: Route = asOf({
  method: 'GET',
  path: '/v1/funding',
  operation: {
    id: 'listFunding',
    tag: 'Market data',
    summary: 'List the funding rates of a perpetual',
    description:
      'One for each hour in which the chain was read: that of the first block seen in it. Kept for two years.',
    query: z.object({ ...MarketQuery.shape, ...HistoryQuery.shape }),
    responses: {
      200: { description: 'One page, newest first.', body: FundingPage, headers: aliasHeaders },
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const asked = askedPrices(ctx, deps, {
      kind: 'funding',
      lacks: (market) =>
        contractOf(market).present.prices?.hasFunding === true
          ? undefined
          : noFunding(market.market),
    })
    if ('refusal' in asked) return refuse(ctx, asked.refusal)
    const { market } = asked.market
    const behind = await untilShown(ctx, deps, market)
    if (behind !== undefined) return refuse(ctx, behind)
    const rows = deps.readModel.atOnce(() => {
      sayProjected(ctx, deps, market)
      return deps.readModel.fundingRates(market, asked.page)
    })
    ctx.body = {
      market,
      funding: rows.map(fundingRecord),
      ...asked.next(rows),
    } satisfies FundingPage
  },
})
