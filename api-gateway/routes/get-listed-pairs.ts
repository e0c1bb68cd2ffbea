import { z } from 'zod'
import { listedPair } from '../../core/records/listed-contract-record.js'
import { ListedPair } from '../../interface/listed-contracts.js'
import { listedPairs } from '../listed-markets.js'
import { LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { broken, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

/** `GET /v1/integrations/pairs`: the enabled spot markets as pairs of assets. */
export const getListedPairs: Route = {
  method: 'GET',
  path: '/v1/integrations/pairs',
  operation: {
    id: 'listPairs',
    tag: 'Market data',
    summary: 'List the spot markets as pairs of assets',
    responses: {
      ...taggedAnswers({ description: 'By identifier.', body: z.array(ListedPair) }),
      500: broken,
    },
  },
  handler: (deps) => (ctx) =>
    answerTagged(ctx, listedPairs(deps.markets).map(listedPair), LISTED_MAX_AGE_SEC),
}
