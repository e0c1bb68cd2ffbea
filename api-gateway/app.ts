import Router from '@koa/router'
import Koa from 'koa'
import type { GatewayDeps, GatewayState } from './context.js'
import { errors } from './middleware/errors.js'
import { requestId } from './middleware/request-id.js'
import { requestLog } from './middleware/request-log.js'
import { unmatched } from './middleware/unmatched.js'
import { type Route, routes } from './routes.js'

/** The REST side of the venue as a Koa application that listens nowhere yet. */
export function createApp(deps: GatewayDeps): Koa<GatewayState> {
  const app = new Koa<GatewayState>()
  app.use(requestId)
  app.use(requestLog(deps.log))
  app.use(errors(deps.log))
  app.use(routerOf(deps, routes.filter(isOrderRequest)))
  app.use(
    routerOf(
      deps,
      routes.filter((route) => !isOrderRequest(route)),
    ),
  )
  app.use(unmatched)
  return Object.assign(app, { handleRequest: runOnly(deps.log) })
}

/** What nearly all requests are under load: they need not be compared with the paths of all the others. */
const isOrderRequest = ({ method, path }: Route): boolean =>
  method === 'POST' && path.startsWith('/v1/orders')

function routerOf(deps: GatewayDeps, taken: readonly Route[]) {
  const router = new Router<GatewayState>({ sensitive: true })
  for (const { method, path, handler } of taken) router.register(path, [method], handler(deps))
  return router.routes()
}

type Context = Koa.ParameterizedContext<GatewayState>

/**
 * Runs the middleware, which writes every answer itself. Koa's own way of handling a request looks for an answer to
 * write afterwards, and listens on every response and connection for its end, to tell of clients that hang up before
 * their answer; that is their business, and costs a tenth of a request.
 */
function runOnly(log: GatewayDeps['log']) {
  return (ctx: Context, run: (ctx: Context) => Promise<void>): Promise<void> =>
    run(ctx).catch((error: unknown) => {
      log.error({ err: error, request_id: ctx.state.requestId }, 'answer failed')
      ctx.res.destroy()
    })
}
