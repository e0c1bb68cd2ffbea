import { z } from 'zod'
import { MAX_LISTED_TRADES } from '../../core/limits.js'
import { pairTrade } from '../../core/records/listed-contract-record.js'
import { MarketPairPath, PairTrade } from '../../interface/listed-contracts.js'
import { refuse } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { askedPair } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

const DAY_MS = 86_400_000

/** `GET /v1/integrations/trades/:market_pair`: trades of the trailing day of a market that the path names. */
export const getPairTrades: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/trades/:market_pair',
  operation: {
    id: 'listPairTrades',
    tag: 'Market data',
    summary: 'List the trades of the trailing day of a pair, or of a market, in ticker terms',
    path: MarketPairPath,
    responses: {
      ...taggedAnswers({
        description: `The newest ${MAX_LISTED_TRADES} of the trailing day, newest first.`,
        body: z.array(PairTrade),
        headers: [...aliasHeaders],
      }),
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const asked = askedPair(ctx, deps)
    if ('refusal' in asked) return refuse(ctx, asked.refusal)
    const { market } = asked
    const behind = await untilShown(ctx, deps, market.market)
    if (behind !== undefined) return refuse(ctx, behind)
    const page = { limit: MAX_LISTED_TRADES, fromMs: deps.nowMs() - DAY_MS }
    const trades = deps.readModel.atOnce(() => {
      sayProjected(ctx, deps, market.market)
      return deps.readModel.tradesWithin(market.market, page)
    })
    const rows = trades.map((trade) => pairTrade(market, trade))
    answerTagged(ctx, rows, LISTED_MAX_AGE_SEC)
  },
})
