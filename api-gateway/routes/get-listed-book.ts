import { readRefusals } from '../../core/entry/read-refusals.js'
import { refusals } from '../../core/entry/refusals.js'
import { listedBook } from '../../core/records/listing-record.js'
import { MAX_LISTED_LEVELS } from '../../core/limits.js'
import { ListedBook, ListedBookQuery } from '../../interface/listing.js'
import { refuse } from '../context.js'
import { askedTicker, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** The market is read with its aliases. */
const PAGE = ListedBookQuery.omit({ ticker_id: true })

/** Several levels of the market may be one of a listing. */
const ALL_LEVELS = Number.MAX_SAFE_INTEGER

/** How old a listed book may be; well below the five seconds of `Cache-Control`. */
const CACHED_MS = 1_000

/** `GET /v1/integrations/orderbook`: price levels of a spot market in ticker terms, as listing sites poll them. */
export const getListedBook: Route = {
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
        headers: [...aliasHeaders, 'Cache-Control'],
      },
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler(deps) {
    // The whole of one market, so that its depths share a read; one entry per market of the venue.
    const cache = new Map<string, ListedBook>()
    return async (ctx) => {
      const asked = askedTicker(ctx, deps)
      if ('refusal' in asked) return refuse(ctx, asked.refusal)
      const query = readQuery(ctx, PAGE, { depth: readRefusals.listedDepth })
      if ('refusal' in query) return refuse(ctx, query.refusal)
      const { market } = asked
      if (!(await deps.ownWrites.shown(market.market))) return refuse(ctx, refusals.readBehind)
      const nowMs = deps.nowMs()
      const kept = cache.get(market.market)
      const isFresh = kept !== undefined && Math.abs(nowMs - kept.timestamp) < CACHED_MS
      const book = isFresh
        ? kept
        : listedBook(market, deps.readModel.levels(market.market, ALL_LEVELS), nowMs)
      cache.set(market.market, book)
      const levels = query.depth === 0 ? MAX_LISTED_LEVELS / 2 : Math.ceil(query.depth / 2)
      ctx.body = {
        ...book,
        bids: book.bids.slice(0, levels),
        asks: book.asks.slice(0, levels),
      } satisfies ListedBook
      ctx.set('Cache-Control', 'public, max-age=5')
    }
  },
}
