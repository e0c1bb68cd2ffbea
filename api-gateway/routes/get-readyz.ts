import type { GatewayDeps, Handler } from '../context.js'

/** `GET /readyz`: 200 when an order can be taken, matched, settled and read; otherwise 503 with what is missing. */
export function getReadyz(deps: GatewayDeps): Handler {
  return async (ctx) => {
    const missing = await deps.readiness.missing()
    const ready = Object.keys(missing).length === 0
    ctx.status = ready ? 200 : 503
    ctx.body = ready
      ? { status: 'ready' }
      : {
          error: `not ready: ${Object.keys(missing).join(', ')}`,
          code: 'not_ready',
          missing,
          request_id: ctx.state.requestId,
        }
  }
}
