import { z } from 'zod'
import { listedContract } from '../../core/records/listed-contract-record.js'
import { ListedContract } from '../../interface/listed-contracts.js'
import { marketsOnChain } from '../chain-markets.js'
import { refuse } from '../context.js'
import { asOf, saySeqs, shownAsAsked } from '../feed-seqs.js'
import { listedContracts } from '../listed-markets.js'
import { createTickerReads, LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { readRefusals, tooManyReads, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

/** `GET /v1/integrations/contracts`: each enabled perpetual and future, as listing sites poll derivatives. */
export const getListedContracts: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/contracts',
  operation: {
    id: 'listContracts',
    tag: 'Market data',
    summary: 'List each perpetual and future with its trailing day',
    description:
      'Open interest, index and funding are those of the chain, at most ten seconds old; absent while it cannot be read.',
    responses: {
      ...taggedAnswers({
        description: 'By identifier; at most five seconds old.',
        body: z.array(ListedContract),
      }),
      ...readRefusals,
      503: tooManyReads,
    },
  },
  isLarge: () => true,
  handler(deps) {
    const tickerOf = createTickerReads(deps)
    return async (ctx) => {
      const shown = await shownAsAsked(ctx, deps)
      if ('refusal' in shown) return refuse(ctx, shown.refusal)
      const onChain = await marketsOnChain(deps)
      const read = listedContracts(deps.markets).map((listed) => {
        const name = listed.market.market
        const { seq, value } = tickerOf(listed.market, shown.seqs.get(name) ?? 0)
        return { name, seq, row: listedContract(listed, value, onChain.get(name)?.observed) }
      })
      saySeqs(
        ctx,
        read.map(({ name, seq }) => [name, seq]),
      )
      const rows = read.map(({ row }) => row)
      answerTagged(ctx, rows, LISTED_MAX_AGE_SEC)
    }
  },
})
