import cors from '@koa/cors'
import type Koa from 'koa'
import { refusals } from '../core/entry/refusals.js'
import type { HttpState } from '../runtime/http/server.js'
import { refuse, type GatewayDeps } from './context.js'

/** How long a browser keeps the answer to a preflight. */
const PREFLIGHT_SEC = 600

const EXPOSED = [
  ...['X-Request-Id', 'Retry-After', 'ETag'],
  ...['Deprecation', 'Sunset', 'X-Canonical-Market'],
]

/**
 * Lets pages of the allowed origins read answers (CORS, without credentials), and refuses requests that change something
 * from pages of all others. Clients that are no browsers send no `Origin` and pass.
 */
export function judgeOrigins({
  isAllowedOrigin,
  auth,
}: Pick<GatewayDeps, 'isAllowedOrigin' | 'auth'>): Koa.Middleware<HttpState> {
  const allow = cors({
    origin: (ctx) => (isAllowedOrigin(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: ['GET', 'POST'],
    allowHeaders: ['Content-Type', 'If-None-Match', 'X-Request-Id', auth.header],
    ...{ exposeHeaders: EXPOSED, maxAge: PREFLIGHT_SEC, keepHeadersOnError: true },
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
