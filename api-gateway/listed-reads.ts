import { MAX_LISTED_LEVELS } from '../core/limits.js'
import { readRefusals } from '../core/entry/read-refusals.js'
import type { OrRefusal } from '../core/entry/refusals.js'
import type { Market } from '../core/model/market.js'
import { listedBook } from '../core/records/listing-record.js'
import type { TickerFacts } from '../core/records/ticker-record.js'
import { ListedBookQuery, type ListedBook } from '../interface/listing.js'
import type { GatewayContext, GatewayDeps } from './context.js'
import { saySeqs, shownAsAsked } from './feed-seqs.js'
import { listedPairs } from './listed-markets.js'
import { readQuery } from './read-request.js'

/** Reads that listing sites poll: each endpoint reads a market at most once a second for all its clients, unless one asks for more in `min_seq`. */

/** How old they may be; well below `LISTED_MAX_AGE_SEC`. */
const CACHED_MS = 1_000

/** How long caches may keep what a listing site is answered. */
export const LISTED_MAX_AGE_SEC = 5

/** What was read of a market, when, and how much of its feed it shows. */
export interface ReadOfMarket<Value> {
  readonly atMs: number
  readonly seq: number
  readonly value: Value
}

/** Reads a market, or takes the last read of it where that is young enough and shows `least` of the feed. */
type CachedRead<Value> = (market: Market, least: number) => ReadOfMarket<Value>

/** Keeps one entry for each market of the venue. */
function cached<Value>(
  deps: Pick<GatewayDeps, 'nowMs'>,
  read: (market: Market, nowMs: number) => Omit<ReadOfMarket<Value>, 'atMs'>,
): CachedRead<Value> {
  const cache = new Map<string, ReadOfMarket<Value>>()
  return (market, least) => {
    const nowMs = deps.nowMs()
    const kept = cache.get(market.market)
    const isFresh = kept !== undefined && Math.abs(nowMs - kept.atMs) < CACHED_MS
    if (isFresh && kept.seq >= least) return kept
    const found = { atMs: nowMs, ...read(market, nowMs) }
    cache.set(market.market, found)
    return found
  }
}

/** Best prices, the last one and the trailing day. */
export const createTickerReads = (deps: GatewayDeps): CachedRead<TickerFacts> =>
  cached(deps, ({ market }, nowMs) => {
    const { readModel } = deps
    return readModel.atOnce(() => ({
      seq: readModel.projectedSeq(market),
      value: {
        ...readModel.bestPrices(market),
        last: readModel.lastPrice(market),
        stats: readModel.stats24h(market, nowMs),
      },
    }))
  })

/** A spot market with its ticker. */
interface ReadPair {
  readonly market: Market
  readonly facts: TickerFacts
}

/** Reads all spot markets as the request asks for them, and says in its answer what they show. */
export function createPairReads(deps: GatewayDeps) {
  const tickerOf = createTickerReads(deps)
  return async (
    ctx: GatewayContext,
  ): Promise<OrRefusal<{ readonly pairs: readonly ReadPair[] }>> => {
    const shown = await shownAsAsked(ctx, deps)
    if ('refusal' in shown) return shown
    const read = listedPairs(deps.markets).map((market) => {
      const { seq, value } = tickerOf(market, shown.seqs.get(market.market) ?? 0)
      return { market, seq, facts: value }
    })
    saySeqs(
      ctx,
      read.map(({ market, seq }) => [market.market, seq]),
    )
    return { pairs: read }
  }
}

/** Several levels of the market may be one of a listing. */
const ALL_LEVELS = Number.MAX_SAFE_INTEGER

/** What the query of a book says besides the market, which is read with its aliases. */
export const BOOK_PAGE = ListedBookQuery.omit({ ticker_id: true })

type ListedTarget = OrRefusal<{ readonly market: Market }>

/**
 * Reads the levels of the market that `askedOf` finds in the request, as many as its `depth` says, and says in its answer what they
 * show.
 */
export function createBookReads(
  deps: GatewayDeps,
  askedOf: (ctx: GatewayContext, deps: GatewayDeps) => ListedTarget,
) {
  const bookOf = createListedBooks(deps)
  return async (ctx: GatewayContext): Promise<OrRefusal<{ readonly book: ListedBook }>> => {
    const asked = askedOf(ctx, deps)
    if ('refusal' in asked) return asked
    const query = readQuery(ctx, BOOK_PAGE, { depth: readRefusals.listedDepth })
    if ('refusal' in query) return query
    const { market } = asked
    const shown = await shownAsAsked(ctx, deps, market.market)
    if ('refusal' in shown) return shown
    const { seq, value } = bookOf(market, shown.seqs.get(market.market) ?? 0)
    saySeqs(ctx, [[market.market, seq]])
    return { book: { ...value, ...cutBook(value, query.depth) } }
  }
}

/** The whole book, so that all depths share a read. */
const createListedBooks = (deps: GatewayDeps): CachedRead<ListedBook> =>
  cached(deps, (market, nowMs) => {
    const { seq, ...levels } = deps.readModel.levelsNow(market.market, ALL_LEVELS)
    return { seq, value: listedBook(market, levels, nowMs) }
  })

/** The best levels of a book, `depth` of both sides together, half of them of each; 0 is as many as there may be. */
function cutBook({ bids, asks }: ListedBook, depth: number): Pick<ListedBook, 'bids' | 'asks'> {
  const levels = depth === 0 ? MAX_LISTED_LEVELS / 2 : Math.ceil(depth / 2)
  return { bids: bids.slice(0, levels), asks: asks.slice(0, levels) }
}
