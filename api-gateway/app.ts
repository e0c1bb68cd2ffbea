import { Router } from '@koa/router'
import type Koa from 'koa'
import { type HttpState, createHttpApp } from '../runtime/http/server.js'
import { refuse, type GatewayDeps, type Handler } from './context.js'
import { boundLargeReads, createLargeReads, LARGE_READ_LIMITS } from './large-reads.js'
import { judgeOrigins } from './judge-origins.js'
import { routes } from './routes.js'

/** The REST side of the venue as a Koa application that does not listen yet. */
export function createApp(deps: GatewayDeps): Koa<HttpState> {
  const router = new Router<HttpState>({ sensitive: true })
  const reads = createLargeReads({ ...LARGE_READ_LIMITS, ...deps.largeReads })
  const bounds = { reads, trustedProxies: deps.trustedProxies }
  for (const { method, path, handler, isLarge } of routes) {
    const handled = handler(deps)
    const handle = isLarge === undefined ? handled : boundLargeReads(handled, isLarge, bounds)
    const answer: Handler = (ctx) => {
      deps.refreshMarkets()
      return handle(ctx)
    }
    if (method === 'GET') router.get(path, answer)
    else router.post(path, answer)
  }
  const { log, onAnswer } = deps
  return createHttpApp({
    ...{ router, refuse, log, before: judgeOrigins(deps) },
    ...(onAnswer !== undefined && { onAnswer }),
  })
}
