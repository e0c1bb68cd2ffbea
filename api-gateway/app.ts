import cors from '@koa/cors'
import { Router } from '@koa/router'
import type Koa from 'koa'
import { refusals } from '../core/entry/refusals.js'
import { createHttpApp, type HttpState } from '../runtime/http/server.js'
import { measureHttp, type Metrics } from '../runtime/metrics/metrics.js'
import { refuse, type GatewayDeps, type Handler } from './context.js'
import { boundLargeReads } from './large-reads.js'
import { createReadsInFlight, LARGE_READ_LIMITS } from './reads-in-flight.js'
import { routes } from './routes.js'

/** The REST side of the venue as a Koa application that does not listen yet. */
export function createApp(deps: GatewayDeps): Koa<HttpState> {
  const router = new Router<HttpState>({ sensitive: true })
  const reads = createReadsInFlight({ ...LARGE_READ_LIMITS, ...deps.largeReads })
  const bounds = { reads, trustedProxies: deps.trustedProxies }
  for (const { method, path, handler, isLarge, refusalFields } of routes) {
    const handled = handler(deps)
    const handle = isLarge === undefined ? handled : boundLargeReads(handled, isLarge, bounds)
    const answer: Handler = (ctx) => {
      if (refusalFields !== undefined) ctx.state.refusalFields = refusalFields
      deps.refreshMarkets()
      return handle(ctx)
    }
    if (method === 'GET') router.get(path, answer)
    else router.post(path, answer)
  }
  const { log, onAnswer } = deps
  return createHttpApp({
    router,
    refuse,
    log,
    before: boundCaches(judgeOrigins(deps)),
    ...(onAnswer !== undefined && { onAnswer }),
  })
}

/**
 * Says to caches what every answer has in common: it differs by `Origin`, and one that does not say how long it may be kept, or that
 * is a refusal, is not kept. Both headers are set on the response of Node itself, with less work than through Koa: each order has them.
 */
function boundCaches(answer: Koa.Middleware<HttpState>): Koa.Middleware<HttpState> {
  return async (ctx, next) => {
    const { res } = ctx
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('Vary', 'Origin')
    try {
      await answer(ctx, next)
    } finally {
      if (res.statusCode >= 400) ctx.set('Cache-Control', 'no-store')
    }
  }
}

/** How long a browser keeps the answer to a preflight. */
const PREFLIGHT_SEC = 600

const EXPOSED = [
  ...['X-Request-Id', 'X-Feed-Seq', 'Retry-After', 'ETag'],
  ...['Deprecation', 'Sunset', 'X-Canonical-Market'],
]

/**
 * Lets pages of the allowed origins read answers (CORS, without credentials), and refuses requests that change something
 * from pages of all others. Clients that are not browsers send no `Origin` and pass.
 */
function judgeOrigins({
  isAllowedOrigin,
  auth,
}: Pick<GatewayDeps, 'isAllowedOrigin' | 'auth'>): Koa.Middleware<HttpState> {
  const allow = cors({
    origin: (ctx) => (isAllowedOrigin(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: ['GET', 'POST'],
    allowHeaders: ['Content-Type', 'If-None-Match', 'X-Request-Id', auth.header],
    exposeHeaders: EXPOSED,
    maxAge: PREFLIGHT_SEC,
    keepHeadersOnError: true,
  })
  return async (ctx, next) => {
    const origin = ctx.get('Origin')
    if (origin === '') return void (await next())
    if (ctx.method === 'POST' && !isAllowedOrigin(origin)) {
      return refuse(ctx, refusals.originNotAllowed)
    }
    await allow(ctx, next)
  }
}

/** Measures the gateway's requests, and how long orders take after it. */
export function measureGateway(metrics: Metrics): Pick<GatewayDeps, 'onAnswer' | 'onOrder'> {
  const durable = metrics.histogram('venue_order_durable_seconds')
  return { onAnswer: measureHttp(metrics), onOrder: (seconds) => durable({}, seconds) }
}
