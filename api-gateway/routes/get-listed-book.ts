import type { Market } from '../../core/model/market.js'
import { readRefusals } from '../../core/entry/read-refusals.js'
import { listedBook } from '../../core/records/listing-record.js'
import { MAX_LISTED_LEVELS } from '../../core/limits.js'
import { ListedBook, ListedBookQuery } from '../../interface/listing.js'
import { refuse } from '../context.js'
import { asOf, saySeqs, shownAsAsked } from '../feed-seqs.js'
import { askedTicker, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** The market is read with its aliases. */
const PAGE = ListedBookQuery.omit({ ticker_id: true })

/** Several levels of the market may be one of a listing. */
const ALL_LEVELS = Number.MAX_SAFE_INTEGER

/** How old a listed book may be; well below the five seconds of `Cache-Control`. */
const CACHED_MS = 1_000

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
    // The whole of one market, so that its depths share a read; one entry per market of the venue.
    const cache = new Map<string, { readonly seq: number; readonly book: ListedBook }>()
    const bookOf = (market: Market, least: number) => {
      const nowMs = deps.nowMs()
      const kept = cache.get(market.market)
      const isFresh = kept !== undefined && Math.abs(nowMs - kept.book.timestamp) < CACHED_MS
      if (isFresh && kept.seq >= least) return kept
      const { seq, ...levels } = deps.readModel.levelsNow(market.market, ALL_LEVELS)
      const read = { seq, book: listedBook(market, levels, nowMs) }
      cache.set(market.market, read)
      return read
    }
    return async (ctx) => {
      const asked = askedTicker(ctx, deps)
      if ('refusal' in asked) return refuse(ctx, asked.refusal)
      const query = readQuery(ctx, PAGE, { depth: readRefusals.listedDepth })
      if ('refusal' in query) return refuse(ctx, query.refusal)
      const { market } = asked
      const shown = await shownAsAsked(ctx, deps, market.market)
      if ('refusal' in shown) return refuse(ctx, shown.refusal)
      const { seq, book } = bookOf(market, shown.seqs.get(market.market) ?? 0)
      saySeqs(ctx, [[market.market, seq]])
      const levels = query.depth === 0 ? MAX_LISTED_LEVELS / 2 : Math.ceil(query.depth / 2)
      ctx.body = {
        ...book,
        bids: book.bids.slice(0, levels),
        asks: book.asks.slice(0, levels),
      } satisfies ListedBook
      ctx.set('Cache-Control', 'public, max-age=5')
    }
  },
})
