import type Koa from 'koa'
import type { Logger } from '../../bus-schemas/log.js'
import { refusals } from '../../core/refusals.js'
import type { GatewayState } from '../context.js'
import { refuse } from '../refuse.js'

/**
 * The one funnel: whatever is thrown becomes a 500 with a constant text, its reason only in the log, and every body
 * leaves as JSON, except bytes, which were written out before and have a type of their own. Serialising happens in here so
 * that a body that cannot be serialised is caught too.
 */
export function errors(log: Logger): Koa.Middleware<GatewayState> {
  return async (ctx, next) => {
    try {
      await next()
      writeJson(ctx)
    } catch (error) {
      const level = isHangUp(error) ? 'debug' : 'error'
      log[level]({ err: error, request_id: ctx.state.requestId }, 'request failed')
      refuse(ctx, refusals.internal)
      writeJson(ctx)
    }
    if (hasUnreadBody(ctx)) ctx.set('Connection', 'close')
  }
}

/** The client went away before its body was complete: nobody's failure, and nobody reads the answer. */
function isHangUp(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNABORTED'
}

function writeJson(ctx: Koa.ParameterizedContext<GatewayState>): void {
  if (ctx.body === undefined || ctx.body === null || Buffer.isBuffer(ctx.body)) return
  const text = JSON.stringify(ctx.body)
  const { status } = ctx
  ctx.body = text
  ctx.status = status
  ctx.set('Content-Type', 'application/json; charset=utf-8')
}

/** What nobody read would have to be read to reuse the connection; a stranger's gigabyte is not worth it. */
function hasUnreadBody(ctx: Koa.ParameterizedContext<GatewayState>): boolean {
  if (ctx.state.bodyRead) return false
  return ctx.get('transfer-encoding') !== '' || (ctx.request.length ?? 0) > 0
}
