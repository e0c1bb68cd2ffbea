import { z } from 'zod'
import { readRefusals } from '../../core/entry/read-refusals.js'
import { MarketPairPath } from '../../interface/listed-contracts.js'
import { ListedBook, ListedBookQuery } from '../../interface/listing.js'
import { refuse } from '../context.js'
import { asOf, saySeqs, shownAsAsked } from '../feed-seqs.js'
import { createListedBooks, cutBook, LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { askedPair, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

const PAGE = z.object({ depth: ListedBookQuery.shape.depth })

/** `GET /v1/integrations/orderbook/:market_pair`: price levels of a market that the path names. */
export const getPairBook: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/orderbook/:market_pair',
  operation: {
    id: 'readPairBook',
    tag: 'Market data',
    summary: 'Read the price levels of a pair, or of a market, in ticker terms',
    path: MarketPairPath,
    query: PAGE,
    responses: {
      ...taggedAnswers({
        description: 'Price levels; at most five seconds old.',
        body: ListedBook,
        headers: [...aliasHeaders],
      }),
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler(deps) {
    const bookOf = createListedBooks(deps)
    return async (ctx) => {
      const asked = askedPair(ctx, deps)
      if ('refusal' in asked) return refuse(ctx, asked.refusal)
      const query = readQuery(ctx, PAGE, { depth: readRefusals.listedDepth })
      if ('refusal' in query) return refuse(ctx, query.refusal)
      const { market } = asked
      const shown = await shownAsAsked(ctx, deps, market.market)
      if ('refusal' in shown) return refuse(ctx, shown.refusal)
      const { seq, value: book } = bookOf(market, shown.seqs.get(market.market) ?? 0)
      saySeqs(ctx, [[market.market, seq]])
      answerTagged(ctx, { ...book, ...cutBook(book, query.depth) }, LISTED_MAX_AGE_SEC)
    }
  },
})
