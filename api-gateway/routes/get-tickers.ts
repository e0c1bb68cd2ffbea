import { z } from 'zod'
import { tickerRecord } from '../../core/records/ticker-record.js'
import { TickerRecord, TickersQuery } from '../../interface/trade.js'
import { refuse } from '../context.js'
import { asOf, saySeqs, shownAsAsked } from '../feed-seqs.js'
import { createTickerReads, LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { askedTickers } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** `GET /v1/integrations/tickers`: a ticker for each enabled spot market, or for the one asked for. */
export const getTickers: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/tickers',
  operation: {
    id: 'listTickers',
    tag: 'Market data',
    summary: 'List a ticker for each spot market',
    query: TickersQuery,
    responses: {
      200: {
        description: 'By identifier; at most five seconds old.',
        body: z.array(TickerRecord),
        headers: [...aliasHeaders],
      },
      ...marketRefusals,
    },
  },
  handler(deps) {
    const tickerOf = createTickerReads(deps)
    return async (ctx) => {
      const asked = askedTickers(ctx, deps)
      if ('refusal' in asked) return refuse(ctx, asked.refusal)
      const shown = await shownAsAsked(ctx, deps)
      if ('refusal' in shown) return refuse(ctx, shown.refusal)
      const { seqs } = shown
      const read = asked.markets.map((market) => ({
        market,
        ...tickerOf(market, seqs.get(market.market) ?? 0),
      }))
      saySeqs(
        ctx,
        read.map(({ market, seq }) => [market.market, seq]),
      )
      ctx.body = read.map(({ market, value }) => tickerRecord(market, value))
      // Last, so that no cache keeps a failure.
      ctx.set('Cache-Control', `public, max-age=${LISTED_MAX_AGE_SEC}`)
    }
  },
})
