import { z } from 'zod'
import { listedSummary } from '../../core/records/listed-contract-record.js'
import { ListedSummary } from '../../interface/listed-contracts.js'
import { refuse } from '../context.js'
import { asOf } from '../feed-seqs.js'
import { createPairReads, LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { readRefusals, tooManyReads, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

/** `GET /v1/integrations/summary`: each enabled spot market with its trailing day. */
export const getListedSummary: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/summary',
  operation: {
    id: 'listSummaries',
    tag: 'Market data',
    summary: 'List each spot market with its trailing day',
    responses: {
      ...taggedAnswers({
        description: 'By identifier; at most five seconds old.',
        body: z.array(ListedSummary),
      }),
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
      const rows = read.pairs.map(({ market, facts }) => listedSummary(market, facts))
      answerTagged(ctx, rows, LISTED_MAX_AGE_SEC)
    }
  },
})
