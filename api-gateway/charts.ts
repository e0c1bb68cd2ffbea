import type { Refusal } from '../core/entry/refusals.js'
import { identifierOf } from '../core/records/chart-record.js'
import { ChartError } from '../interface/charts.js'
import type { GatewayContext, GatewayDeps } from './context.js'
import { namedMarket } from './read-request.js'
import { broken, type EndpointAnswer, type Route } from './route.js'

/** The endpoints of TradingView's datafeed: every refusal says in its words too what is wrong. */

/** The route with refusals as the datafeed has them, which is with `s: "error"` and their words as `errmsg`. */
export function asChart(route: Route): Route {
  const { responses } = route.operation
  const answers = Object.entries({ 500: broken, ...responses }).map(
    ([status, answer]): [string, EndpointAnswer] => [
      status,
      Number(status) < 400 ? answer : { ...answer, body: ChartError },
    ],
  )
  return {
    ...route,
    operation: { ...route.operation, responses: Object.fromEntries(answers) },
    refusalFields: ({ message, extra }) => ({ s: 'error', errmsg: wordsOf(message, extra) }),
  }
}

/** An unknown market says in `message` which one. */
const wordsOf = (message: string, extra: Refusal['extra']): string =>
  typeof extra?.message === 'string' ? extra.message : message

/** The market that `symbol` names, listed or once listed, or the refusal. */
export const askedSymbol = (ctx: GatewayContext, deps: GatewayDeps) =>
  namedMarket(ctx, deps, identifierOf((ctx.query.symbol ?? '').toString()))
