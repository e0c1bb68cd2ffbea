import type Koa from 'koa'
import type { Logger } from '../../bus-schemas/log.js'
import { refusals } from '../../core/refusals.js'
import type { GatewayState } from '../context.js'
import { RequestAborted } from '../read-json-body.js'
import { refuse } from '../refuse.js'
import { writeAnswer } from '../write-answer.js'

/**
 * The one funnel: whatever is thrown becomes a 500 with a constant text, its reason only in the log, and every answer
 * is written here, so that a body that cannot be serialised is caught too.
 */
export function errors(log: Logger): Koa.Middleware<GatewayState> {
  return async (ctx, next) => {
    try {
      await next()
      writeAnswer(ctx)
    } catch (error) {
      // A client that went away before its body was complete is nobody's failure, and nobody reads the answer.
      const level = error instanceof RequestAborted ? 'debug' : 'error'
      log[level]({ err: error, request_id: ctx.state.requestId }, 'request failed')
      refuse(ctx, refusals.internal)
      writeAnswer(ctx)
    }
  }
}
