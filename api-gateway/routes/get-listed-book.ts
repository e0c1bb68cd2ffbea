import { ListedBook, ListedBookQuery } from '../../interface/listing.js'
import { refuse } from '../context.js'
import { asOf } from '../feed-seqs.js'
import { createBookReads, LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { askedTicker } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** `GET /v1/integrations/orderbook`: price levels of a spot market in ticker terms, as listing sites poll them. */
export const getListedBook: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/orderbook',
  operation: {
    id: 'readListedBook',
    tag: 'Market data',
    summary: 'Read the price levels of a spot market in ticker terms',
    query: ListedBookQuery,
    responses: {
      200: {
        description: 'Price levels; at most five seconds old.',
        body: ListedBook,
        headers: [...aliasHeaders],
      },
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler(deps) {
    const readBook = createBookReads(deps, askedTicker)
    return async (ctx) => {
      const read = await readBook(ctx)
      if ('refusal' in read) return refuse(ctx, read.refusal)
      ctx.body = read.book
      ctx.set('Cache-Control', `public, max-age=${LISTED_MAX_AGE_SEC}`)
    }
  },
})
