import { z } from 'zod'
import type { Market } from '../../core/model/market.js'
import { tickerRecord } from '../../core/records/ticker-record.js'
import { TickerRecord, TickersQuery } from '../../interface/trade.js'
import { refuse, type GatewayDeps } from '../context.js'
import { asOf, saySeqs, shownAsAsked } from '../feed-seqs.js'
import { askedTickers } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** How old a ticker may be; well below the five seconds of `Cache-Control`. */
const CACHED_MS = 1_000

/** `GET /v1/integrations/tickers`: a ticker for each enabled spot market, or for the one asked for. */
export const getTickers: Route = asOf({
  method: 'GET',
  path: '/v1/integrations/tickers',
  operation: {
    id: 'listTickers',
    tag: 'Market data',
    summary: 'List a ticker for each spot market',
    query: TickersQuery,
    responses: {
      200: {
        description: 'By identifier; at most five seconds old.',
        body: z.array(TickerRecord),
        headers: [...aliasHeaders],
      },
      ...marketRefusals,
    },
  },
  handler(deps) {
    // One entry per market of the venue.
    const cache = new Map<string, ReadTicker>()
    const tickerOf = (market: Market, least: number): ReadTicker => {
      const nowMs = deps.nowMs()
      const kept = cache.get(market.market)
      if (kept !== undefined && nowMs - kept.atMs < CACHED_MS && nowMs >= kept.atMs) {
        if (kept.seq >= least) return kept
      }
      const read = readTicker(deps, market, nowMs)
      cache.set(market.market, read)
      return read
    }
    return async (ctx) => {
      const asked = askedTickers(ctx, deps)
      if ('refusal' in asked) return refuse(ctx, asked.refusal)
      const shown = await shownAsAsked(ctx, deps)
      if ('refusal' in shown) return refuse(ctx, shown.refusal)
      const { seqs } = shown
      const read = asked.markets.map((market) => tickerOf(market, seqs.get(market.market) ?? 0))
      saySeqs(
        ctx,
        read.map(({ ticker, seq }) => [ticker.ticker_id, seq]),
      )
      ctx.body = read.map(({ ticker }) => ticker)
      // Last, so that no cache keeps a failure.
      ctx.set('Cache-Control', 'public, max-age=5')
    }
  },
})

/** A ticker, when it was read and what it shows of its market. */
interface ReadTicker {
  readonly atMs: number
  readonly seq: number
  readonly ticker: TickerRecord
}

function readTicker({ readModel }: GatewayDeps, market: Market, nowMs: number): ReadTicker {
  return readModel.atOnce(() => ({
    ...{ atMs: nowMs, seq: readModel.projectedSeq(market.market) },
    ticker: tickerRecord(market, {
      ...readModel.bestPrices(market.market),
      last: readModel.lastPrice(market.market),
      stats: readModel.stats24h(market.market, nowMs),
    }),
  }))
}
