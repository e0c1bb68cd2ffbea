import { type Refusal, refusalBody } from '../core/refusals.js'
import type { GatewayContext } from './context.js'

/** Answers with a refusal; `extra` stands beside its fields. */
export function refuse(
  ctx: Pick<GatewayContext, 'status' | 'body' | 'state'>,
  refusal: Refusal,
  extra: Readonly<Record<string, unknown>> = {},
): void {
  ctx.status = refusal.status
  ctx.body = { ...refusalBody(refusal, ctx.state.requestId), ...extra }
  ctx.state.json = undefined
  ctx.state.logged.code = refusal.code
}
