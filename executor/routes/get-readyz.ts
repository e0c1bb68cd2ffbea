import type Koa from 'koa'
import { refuse } from '../refuse.js'

/** Many times as long as a chain that works leaves between two answers. */
const CHAIN_SILENT_MAX_MS = 5_000

/** `GET /readyz`: 200 while the chain answers, so that a match could be settled; otherwise 503. */
export function getReadyz(chainSilentMs: () => number): Koa.Middleware {
  return (ctx) => {
    if (chainSilentMs() > CHAIN_SILENT_MAX_MS) refuse(ctx, 503, 'the chain does not answer')
    else ctx.body = { status: 'ready' }
  }
}
