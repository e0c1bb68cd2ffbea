import { pairNameOf, pairTicker } from '../../core/records/listed-contract-record.js'
import { PairTickers } from '../../interface/listed-contracts.js'
import { refuse } from '../context.js'
import { asOf } from '../feed-seqs.js'
import { createPairReads, LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { readRefusals, tooManyReads, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

/** `GET /v1/integrations/ticker`: each enabled spot market by the name of its pair. */
export const getPairTickers: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/ticker',
  operation: {
    id: 'readPairTickers',
    tag: 'Market data',
    summary: 'Read price and volumes of each spot market by its pair',
    responses: {
      ...taggedAnswers({ description: 'At most five seconds old.', body: PairTickers }),
      ...readRefusals,
      503: tooManyReads,
    },
  },
  isLarge: () => true,
  handler(deps) {
    const readPairs = createPairReads(deps)
    return async (ctx) => {
      const read = await readPairs(ctx)
      if ('refusal' in read) return refuse(ctx, read.refusal)
      const entries = read.pairs.map(({ market, facts }) => [
        pairNameOf(market),
        pairTicker(market, facts),
      ])
      answerTagged(ctx, Object.fromEntries(entries), LISTED_MAX_AGE_SEC)
    }
  },
})
