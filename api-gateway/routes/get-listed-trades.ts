import { readRefusals } from '../../core/entry/read-refusals.js'
import { traderTerms } from '../../core/contracts/trader-terms.js'
import { listedTrades } from '../../core/records/listing-record.js'
import { MAX_LISTED_TRADES } from '../../core/limits.js'
import { LISTED_SECONDS_BELOW, ListedTrades, ListedTradesQuery } from '../../interface/listing.js'
import { refuse } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { askedTicker, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** The market is read with its aliases. */
const PAGE = ListedTradesQuery.omit({ ticker_id: true })

/** `GET /v1/integrations/historical_trades`: the newest trades of a spot market in ticker terms, as listing sites poll them. */
export const getListedTrades: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/historical_trades',
  operation: {
    id: 'listListedTrades',
    tag: 'Market data',
    summary: 'List the newest trades of a spot market in ticker terms',
    query: ListedTradesQuery,
    responses: {
      200: {
        description: 'Trades by the taker’s side, newest first.',
        body: ListedTrades,
        headers: [...aliasHeaders],
      },
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const asked = askedTicker(ctx, deps)
    if ('refusal' in asked) return refuse(ctx, asked.refusal)
    const query = readQuery(ctx, PAGE, {
      type: readRefusals.listedType,
      limit: readRefusals.listedLimit,
      start_time: readRefusals.listedStart,
      end_time: readRefusals.listedEnd,
    })
    if ('refusal' in query) return refuse(ctx, query.refusal)
    const [fromMs, endMs] = [query.start_time, query.end_time].map(listedMs)
    if (fromMs !== undefined && endMs !== undefined && endMs <= fromMs) {
      return refuse(ctx, readRefusals.listedEnd)
    }
    const { market } = asked
    const behind = await untilShown(ctx, deps, market.market)
    if (behind !== undefined) return refuse(ctx, behind)
    const limit = query.limit === 0 ? MAX_LISTED_TRADES : query.limit
    const takerSide = query.type && traderTerms(market).side(query.type)
    const page = { limit, takerSide, fromMs, endMs }
    ctx.body = deps.readModel.atOnce(() => {
      sayProjected(ctx, deps, market.market)
      return listedTrades(market, deps.readModel.tradesWithin(market.market, page), query.type)
    })
    ctx.set('Cache-Control', `public, max-age=${LISTED_MAX_AGE_SEC}`)
  },
})

const listedMs = (time: number | undefined): number | undefined =>
  time === undefined || time >= LISTED_SECONDS_BELOW ? time : time * 1_000
