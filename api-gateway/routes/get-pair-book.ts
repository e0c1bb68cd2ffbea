import { MarketPairPath } from '../../interface/listed-contracts.js'
import { ListedBook } from '../../interface/listing.js'
import { refuse } from '../context.js'
import { asOf } from '../feed-seqs.js'
import { BOOK_PAGE, createBookReads, LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { askedPair } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

/** `GET /v1/integrations/orderbook/:market_pair`: price levels of a market that the path names. */
export const getPairBook: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/orderbook/:market_pair',
  operation: {
    id: 'readPairBook',
    tag: 'Market data',
    summary: 'Read the price levels of a pair, or of a market, in ticker terms',
    path: MarketPairPath,
    query: BOOK_PAGE,
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
    const readBook = createBookReads(deps, askedPair)
    return async (ctx) => {
      const read = await readBook(ctx)
      if ('refusal' in read) return refuse(ctx, read.refusal)
      answerTagged(ctx, read.book, LISTED_MAX_AGE_SEC)
    }
  },
})
