import { z } from 'zod'
import { contractOf } from '../../core/contracts/registry.js'
import type { Market } from '../../core/model/market.js'
import { tickerState } from '../../core/records/market-data.js'
import { isoTime } from '../../core/time.js'
import { MarketTicker } from '../../interface/market-data.js'
import { marketsOnChain, type ShownOnChain } from '../chain-markets.js'
import { refuse, type GatewayDeps } from '../context.js'
import { asOf, saySeqs, untilShown } from '../feed-seqs.js'
import { readRefusals, tooManyReads, type Route } from '../route.js'

/** `GET /v1/tickers`: the ticker of each enabled market of any kind, as the channel `ticker` has it. */
export const getMarketTickers: Route = asOf({
  method: 'GET',
  path: '/v1/tickers',
  operation: {
    id: 'listMarketTickers',
    tag: 'Market data',
    summary: 'List the ticker of each market',
    responses: {
      200: { description: 'By identifier.', body: z.array(MarketTicker) },
      ...readRefusals,
      503: tooManyReads,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const behind = await untilShown(ctx, deps)
    if (behind !== undefined) return refuse(ctx, behind)
    const onChain = await marketsOnChain(deps)
    const tickers = deps.markets
      .filter(({ enabled }) => enabled)
      .toSorted((a, b) => (a.market < b.market ? -1 : 1))
      .map((market) => tickerOf(deps, market, onChain.get(market.market)))
    saySeqs(
      ctx,
      tickers.map(({ market, seq }) => [market, seq]),
    )
    ctx.body = tickers
  },
})

const MINUTE_MS = 60_000

function tickerOf(
  { readModel, nowMs }: GatewayDeps,
  market: Market,
  { observed }: ShownOnChain = {},
): MarketTicker {
  const now = nowMs()
  // As the channel counts: from the beginning of the minute in which the day began.
  const statsNowMs = Math.floor(now / MINUTE_MS) * MINUTE_MS - 1
  const { seq, bids, asks, last, stats } = readModel.atOnce(() => {
    const levels = readModel.levelsNow(market.market, 1)
    const [newest] = readModel.tradesWithin(market.market, { limit: 1 })
    return { ...levels, last: newest, stats: readModel.stats24h(market.market, statsNowMs) }
  })
  const prices = observed && contractOf(market).present.prices?.at(observed.facts)
  return {
    market: market.market,
    seq,
    ts: isoTime(now),
    ...tickerState(market, {
      bid: bids[0],
      ask: asks[0],
      prices,
      last: last && { price: last.fill.price, atMs: last.atMs },
      stats,
    }),
  }
}
