import { DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT } from '../../core/limits.js'
import { tradesRecord } from '../../core/records/trade-record.js'
import { refusals } from '../../core/refusals.js'
import type { GatewayDeps, Handler } from '../context.js'
import { askedMarket } from '../asked-market.js'
import { readPositive } from '../read-positive.js'
import { refuse } from '../refuse.js'

/** `GET /v1/trades`: a market's fills, newest first, with its trailing 24 hours. */
export function getTrades(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const found = askedMarket(ctx, deps)
    if ('refusal' in found) return refuse(ctx, found.refusal)
    const limit = readPositive(ctx.query.limit, DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT)
    if (limit === undefined) return refuse(ctx, refusals.pageLimit)
    // Absent, it lies above every trade id.
    const before = readPositive(ctx.query.before_trade_id, Number.MAX_SAFE_INTEGER)
    if (before === undefined) return refuse(ctx, refusals.beforeTradeId)

    const { market } = found
    if (!(await deps.ownWrites.shown(market.market))) return refuse(ctx, refusals.readBehind)
    ctx.body = tradesRecord(market, deps.readModel.trades(market.market, limit, before), {
      limit,
      stats: deps.readModel.stats24h(market.market, deps.nowMs()),
      lastTradeSec: deps.readModel.lastTradeSec(market.market),
    })
  }
}
