import { fillRecord } from '../../core/records/fill-record.js'
import { refusals } from '../../core/refusals.js'
import { marketNamed } from '../answer-order.js'
import type { GatewayDeps, Handler } from '../context.js'
import { nextBefore, readHistoryPage } from '../history-page.js'
import { serviceAuth } from '../middleware/service-auth.js'
import { refuse } from '../refuse.js'

/** `GET /v1/fills`: what the orders of the frame's owner traded, one record for each order's leg, newest first. */
export function getFills(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const auth = serviceAuth(ctx, deps)
    if ('refusal' in auth) return refuse(ctx, auth.refusal)
    const page = readHistoryPage(ctx, 'fills')
    if ('refusal' in page) return refuse(ctx, page.refusal)
    if (!(await deps.ownWrites.shown())) return refuse(ctx, refusals.readBehind)
    const fills = deps.readModel.fills(auth.owner, page)
    ctx.body = {
      fills: fills.map((fill) => fillRecord(marketNamed(deps, fill.market), fill)),
      ...nextBefore('fills', fills, page),
    }
  }
}
