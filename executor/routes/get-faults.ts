import type Koa from 'koa'
import type { FaultsAnswer } from '../../interface/execute.js'
import type { HttpState } from '../../runtime/http/server.js'
import { refuse, unavailable } from '../refusals.js'
import type { FaultWatch } from '../watch-faults.js'

/**
 * `GET /faults`: the markets whose matches the chain refuses now although no order is at fault, with the revert's name, and
 * `settlement_unavailable` for the others while the executor takes nothing; at most a second old. 503 while the chain does not answer.
 */
export function getFaults({ standing }: Pick<FaultWatch, 'standing'>): Koa.Middleware<HttpState> {
  return (ctx) => {
    const faults = standing()
    if (faults === undefined) return refuse(ctx, unavailable('the chain does not answer'))
    ctx.body = { faults: Object.fromEntries(faults) } satisfies FaultsAnswer
  }
}
