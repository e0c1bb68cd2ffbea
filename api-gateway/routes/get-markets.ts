import { marketEntries } from '../../core/records/market-entry.js'
import { refusals } from '../../core/refusals.js'
import type { GatewayDeps, Handler } from '../context.js'
import { refuse } from '../refuse.js'

/** `GET /v1/markets`: the enabled markets. */
export function getMarkets(deps: GatewayDeps): Handler {
  return async (ctx) => {
    if (!(await deps.ownWrites.shown())) return refuse(ctx, refusals.readBehind)
    ctx.body = marketEntries(deps.markets, (market) => deps.readModel.lastTradeSec(market))
  }
}
