import { z } from 'zod'
import type { Market } from '../../core/contracts/market.js'
import { refusals } from '../../core/entry/refusals.js'
import { tickerRecord } from '../../core/records/ticker-record.js'
import { TickerRecord, TickersQuery } from '../../interface/trade.js'
import { refuse, type GatewayDeps } from '../context.js'
import { askedTickers } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** How old a ticker may be; well below the five seconds of `Cache-Control`. */
const CACHED_MS = 1_000

/** `GET /v1/integrations/tickers`: a ticker for each enabled spot market, or for the one asked for. */
export const getTickers: Route = {
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
        headers: [...aliasHeaders, 'Cache-Control'],
      },
      ...marketRefusals,
    },
  },
  handler(deps) {
    // One entry per market of the venue.
    const cache = new Map<string, { readonly atMs: number; readonly ticker: TickerRecord }>()
    const tickerOf = (market: Market): TickerRecord => {
      const nowMs = deps.nowMs()
      const kept = cache.get(market.market)
      if (kept !== undefined && nowMs - kept.atMs < CACHED_MS && nowMs >= kept.atMs) {
        return kept.ticker
      }
      const ticker = readTicker(deps, market, nowMs)
      cache.set(market.market, { atMs: nowMs, ticker })
      return ticker
    }
    return async (ctx) => {
      const asked = askedTickers(ctx, deps)
      if ('refusal' in asked) return refuse(ctx, asked.refusal)
      if (!(await deps.ownWrites.shown())) return refuse(ctx, refusals.readBehind)
      ctx.body = asked.markets.map(tickerOf)
      // Last, so that no cache keeps a failure.
      ctx.set('Cache-Control', 'public, max-age=5')
    }
  },
}

function readTicker({ readModel }: GatewayDeps, market: Market, nowMs: number): TickerRecord {
  return tickerRecord(market, {
    ...readModel.bestPrices(market.market),
    last: readModel.lastPrice(market.market),
    stats: readModel.stats24h(market.market, nowMs),
  })
}
