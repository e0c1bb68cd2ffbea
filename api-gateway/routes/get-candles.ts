import { z } from 'zod'
import type { OrRefusal } from '../../core/entry/refusals.js'
import { readRefusals } from '../../core/entry/read-refusals.js'
import { candlesPage } from '../../core/records/candle-record.js'
import { ceilSec, isLater, readTimestamp } from '../../core/time.js'
import type { CandleRange } from '../../data/history/read-candles.js'
import { MarketQuery } from '../../interface/market.js'
import { CandlesPage, CandlesQuery } from '../../interface/trade.js'
import { shownOnChain } from '../chain-markets.js'
import { refuse, type GatewayContext } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { askedPast, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** `GET /v1/candles`: the newest candles of a market whose bucket starts in [start, end), oldest first. */
export const getCandles: Route = asOf({
  method: 'GET',
  path: '/v1/candles',
  operation: {
    id: 'listCandles',
    tag: 'Market data',
    summary: 'List the candles of a market',
    query: z.object({ ...MarketQuery.shape, ...CandlesQuery.shape }),
    responses: {
      200: {
        description: 'The newest that fit, oldest first; intervals without trades are absent.',
        body: CandlesPage,
        headers: aliasHeaders,
      },
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const found = askedPast(ctx, deps)
    if ('refusal' in found) return refuse(ctx, found.refusal)
    const range = readRange(ctx)
    if ('refusal' in range) return refuse(ctx, range.refusal)
    const { market } = found
    const behind = await untilShown(ctx, deps, market.market)
    if (behind !== undefined) return refuse(ctx, behind)
    const shown = await shownOnChain(deps, market)
    ctx.body = deps.readModel.atOnce(() => {
      sayProjected(ctx, deps, market.market)
      return candlesPage(market, deps.readModel.candles(market.market, range), {
        interval: range.interval,
        lastTradeSec: deps.readModel.lastTradeSec(market.market),
        ...shown,
      })
    })
  },
})

function readRange(ctx: GatewayContext): OrRefusal<CandleRange> {
  const query = readQuery(ctx, CandlesQuery, {
    interval: readRefusals.candleInterval,
    limit: readRefusals.candlesLimit,
    start: readRefusals.candlesStart,
    end: readRefusals.candlesEnd,
  })
  if ('refusal' in query) return query
  const start = readTimestamp(query.start)
  if (query.start !== undefined && !start) return { refusal: readRefusals.candlesStart }
  const end = readTimestamp(query.end)
  if (query.end !== undefined && !end) return { refusal: readRefusals.candlesEnd }
  if (start && end && !isLater(end, start)) return { refusal: readRefusals.candlesEndAfterStart }
  return {
    interval: query.interval,
    limit: query.limit,
    fromSec: start ? ceilSec(start) : Number.MIN_SAFE_INTEGER,
    beforeSec: end ? ceilSec(end) : Number.MAX_SAFE_INTEGER,
  }
}
