import { readRefusals } from '../../core/entry/read-refusals.js'
import { ListedBook, ListedBookQuery } from '../../interface/listing.js'
import { refuse } from '../context.js'
import { asOf, saySeqs, shownAsAsked } from '../feed-seqs.js'
import { createListedBooks, cutBook, LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { askedTicker, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** The market is read with its aliases. */
const PAGE = ListedBookQuery.omit({ ticker_id: true })

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
    const bookOf = createListedBooks(deps)
    return async (ctx) => {
      const asked = askedTicker(ctx, deps)
      if ('refusal' in asked) return refuse(ctx, asked.refusal)
      const query = readQuery(ctx, PAGE, { depth: readRefusals.listedDepth })
      if ('refusal' in query) return refuse(ctx, query.refusal)
      const { market } = asked
      const shown = await shownAsAsked(ctx, deps, market.market)
      if ('refusal' in shown) return refuse(ctx, shown.refusal)
      const { seq, value: book } = bookOf(market, shown.seqs.get(market.market) ?? 0)
      saySeqs(ctx, [[market.market, seq]])
      ctx.body = { ...book, ...cutBook(book, query.depth) } satisfies ListedBook
      ctx.set('Cache-Control', `public, max-age=${LISTED_MAX_AGE_SEC}`)
    }
  },
})
