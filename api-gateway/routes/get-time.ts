import type { GatewayDeps, Handler } from '../context.js'

/** `GET /v1/time`: the venue's clock, against which expiries are judged. */
export function getTime(deps: GatewayDeps): Handler {
  return (ctx) => {
    const nowMs = deps.nowMs()
    ctx.body = { now: new Date(nowMs).toISOString(), unix_ms: nowMs }
  }
}
