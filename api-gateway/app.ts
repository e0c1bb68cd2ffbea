import { Router } from '@koa/router'
import type Koa from 'koa'
import { type HttpState, createHttpApp } from '../runtime/http/server.js'
import { refuse, type GatewayDeps, type Handler } from './context.js'
import { routes } from './routes.js'

/** The REST side of the venue as a Koa application that does not listen yet. */
export function createApp(deps: GatewayDeps): Koa<HttpState> {
  const router = new Router<HttpState>({ sensitive: true })
  for (const { method, path, handler } of routes) {
    const handle = handler(deps)
    const answer: Handler = (ctx) => {
      deps.refreshMarkets()
      return handle(ctx)
    }
    if (method === 'GET') router.get(path, answer)
    else router.post(path, answer)
  }
  return createHttpApp({ router, refuse, log: deps.log })
}
