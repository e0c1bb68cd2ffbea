import { DEFAULT_TRADES_LIMIT, MAX_TRADES_LIMIT } from '../../core/limits.js'
import { tradesRecord } from '../../core/records/trade-record.js'
import { refusals } from '../../core/refusals.js'
import type { GatewayDeps, Handler } from '../context.js'
import { askedMarket } from '../asked-market.js'
import { refuse } from '../refuse.js'

type QueryValue = string | string[] | undefined

/** `GET /v1/trades`: a market's fills, newest first, with its trailing 24 hours. */
export function getTrades(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const found = askedMarket(ctx, deps)
    if ('refusal' in found) return refuse(ctx, found.refusal)
    const limit = readPositive(ctx.query.limit, DEFAULT_TRADES_LIMIT)
    if (limit === undefined || limit > MAX_TRADES_LIMIT) return refuse(ctx, refusals.tradesLimit)
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

/** A positive integer given once; undefined for anything else. */
function readPositive(asked: QueryValue, absent: number): number | undefined {
  if (asked === undefined) return absent
  if (typeof asked !== 'string' || !/^[0-9]{1,16}$/.test(asked)) return undefined
  const value = Number(asked)
  return value >= 1 && Number.isSafeInteger(value) ? value : undefined
}
