import { type TickerRecord, tickerRecord } from '../../core/records/ticker-record.js'
import type { Market } from '../../core/market.js'
import { refusals } from '../../core/refusals.js'
import { askedTickers } from '../asked-market.js'
import type { GatewayDeps, Handler } from '../context.js'
import { refuse } from '../refuse.js'

/** How old a ticker may be; well below the five seconds that clients are told. */
const CACHED_MS = 1_000

/** `GET /v1/integrations/tickers`: a ticker for each enabled spot market, or for the one asked for. */
export function getTickers(deps: GatewayDeps): Handler {
  // One entry a market of the venue.
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
}

function readTicker({ readModel }: GatewayDeps, market: Market, nowMs: number): TickerRecord {
  return tickerRecord(market, {
    ...readModel.bestPrices(market.market),
    last: readModel.lastPrice(market.market),
    stats: readModel.stats24h(market.market, nowMs),
  })
}
