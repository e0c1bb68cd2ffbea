import Router from '@koa/router'
import Koa from 'koa'
import type { GatewayDeps, GatewayState } from './context.js'
import { errors } from './middleware/errors.js'
import { requestId } from './middleware/request-id.js'
import { requestLog } from './middleware/request-log.js'
import { unmatched } from './middleware/unmatched.js'
import { routes } from './routes.js'

/** The REST side of the venue as a Koa application that listens nowhere yet. */
export function createApp(deps: GatewayDeps): Koa<GatewayState> {
  const app = new Koa<GatewayState>()
  // Koa prints a stack for every client that hangs up before its answer; that is the client's business.
  app.on('error', (error: Error) => deps.log.debug({ err: error }, 'connection lost'))

  const router = new Router<GatewayState>({ sensitive: true })
  for (const { method, path, handler } of routes) {
    const handle = handler(deps)
    router.register(path, [method], handle)
  }

  app.use(requestId)
  app.use(requestLog(deps.log))
  app.use(errors(deps.log))
  app.use(router.routes())
  app.use(unmatched)
  return app
}
