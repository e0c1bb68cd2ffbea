import { isCandleInterval } from '../../core/candles.js'
import type { Checked } from '../../core/checked.js'
import { DEFAULT_CANDLES_LIMIT, MAX_CANDLES_LIMIT } from '../../core/limits.js'
import { readRefusals } from '../../core/read-refusals.js'
import { ceilSec, isLater, readTimestamp } from '../../core/read-timestamp.js'
import { candlesRecord } from '../../core/records/candle-record.js'
import { refusals } from '../../core/refusals.js'
import type { CandleRange } from '../../data/read-candles.js'
import { askedMarket } from '../asked-market.js'
import type { GatewayContext, GatewayDeps, Handler } from '../context.js'
import { readPositive } from '../read-positive.js'
import { refuse } from '../refuse.js'

/** `GET /v1/candles`: the newest candles of a market whose bucket starts in [start, end), oldest first. */
export function getCandles(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const found = askedMarket(ctx, deps)
    if ('refusal' in found) return refuse(ctx, found.refusal)
    const range = readRange(ctx.query)
    if ('refusal' in range) return refuse(ctx, range.refusal)
    const { market } = found
    if (!(await deps.ownWrites.shown(market.market))) return refuse(ctx, refusals.readBehind)
    ctx.body = candlesRecord(market, deps.readModel.candles(market.market, range), {
      interval: range.interval,
      lastTradeSec: deps.readModel.lastTradeSec(market.market),
    })
  }
}

function readRange(query: GatewayContext['query']): Checked<CandleRange> {
  const { interval = '1h' } = query
  if (!isCandleInterval(interval)) return { refusal: readRefusals.candleInterval }
  const limit = readPositive(query.limit, DEFAULT_CANDLES_LIMIT, MAX_CANDLES_LIMIT)
  if (limit === undefined) return { refusal: readRefusals.candlesLimit }
  const start = readTimestamp(query.start)
  if (query.start !== undefined && !start) return { refusal: readRefusals.candlesStart }
  const end = readTimestamp(query.end)
  if (query.end !== undefined && !end) return { refusal: readRefusals.candlesEnd }
  if (start && end && !isLater(end, start)) return { refusal: readRefusals.candlesEndAfterStart }
  return {
    interval,
    limit,
    fromSec: start ? ceilSec(start) : Number.MIN_SAFE_INTEGER,
    beforeSec: end ? ceilSec(end) : Number.MAX_SAFE_INTEGER,
  }
}
