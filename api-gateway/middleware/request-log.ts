import type Koa from 'koa'
import type { Logger } from '../../bus-schemas/log.js'
import type { GatewayState } from '../context.js'

/**
 * One line a request: at info when it wrote something or failed on our side, at debug for the rest. Never a body, a
 * query or a header.
 */
export function requestLog(log: Logger): Koa.Middleware<GatewayState> {
  return async (ctx, next) => {
    const startedAt = performance.now()
    await next()
    const { path } = ctx
    const { method } = ctx.req
    const { statusCode: status } = ctx.res
    const line = {
      request_id: ctx.state.requestId,
      method,
      path: path.slice(0, 200),
      status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      ...ctx.state.logged,
    }
    const probe = path === '/readyz'
    if (status >= 500 && !probe) log.warn(line, 'request answered')
    else if (method === 'POST') log.info(line, 'request answered')
    else log.debug(line, 'request answered')
  }
}
