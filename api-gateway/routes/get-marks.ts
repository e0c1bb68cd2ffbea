import { z } from 'zod'
import { contractOf } from '../../core/contracts/registry.js'
import { noMarks } from '../../core/entry/read-refusals.js'
import { markRecord } from '../../core/records/market-data.js'
import { MarketQuery } from '../../interface/market.js'
import { HistoryQuery } from '../../interface/order.js'
import { MarksPage } from '../../interface/prices.js'
import { refuse } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { askedPrices } from '../price-history.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** `GET /v1/marks`: mark and index of a perpetual or a future as the chain showed them, newest first. */
export const getMarks: Route = asOf({
  method: 'GET',
  path: '/v1/marks',
  operation: {
    id: 'listMarks',
    tag: 'Market data',
    summary: 'List the mark and index prices of a perpetual or a future',
    description:
      'At most one a minute, when mark or index changed, and the first of each hour. Kept for 90 days.',
    query: z.object({ ...MarketQuery.shape, ...HistoryQuery.shape }),
    responses: {
      200: { description: 'One page, newest first.', body: MarksPage, headers: aliasHeaders },
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const asked = askedPrices(ctx, deps, {
      kind: 'marks',
      lacks: (market) =>
        contractOf(market).present.prices === undefined ? noMarks(market.market) : undefined,
    })
    if ('refusal' in asked) return refuse(ctx, asked.refusal)
    const { market } = asked.market
    const behind = await untilShown(ctx, deps, market)
    if (behind !== undefined) return refuse(ctx, behind)
    const rows = deps.readModel.atOnce(() => {
      sayProjected(ctx, deps, market)
      return deps.readModel.marks(market, asked.page)
    })
    ctx.body = { market, marks: rows.map(markRecord), ...asked.next(rows) } satisfies MarksPage
  },
})
