import type Koa from 'koa'
import { refuse } from '../refuse.js'

/** Many times as long as a chain that works leaves between two answers. */
const CHAIN_SILENT_MAX_MS = 5_000

export interface ReadyDeps {
  /** Milliseconds since the chain last answered. */
  readonly chainSilentMs: () => number
  /** Whether a stranger was found to use the key. */
  readonly isFrozen: () => boolean
}

/** `GET /readyz`: 200 while a match could be settled; otherwise 503 with what stands against it. */
export function getReadyz({ chainSilentMs, isFrozen }: ReadyDeps): Koa.Middleware {
  return (ctx) => {
    if (isFrozen()) refuse(ctx, 503, 'a stranger uses the key')
    else if (chainSilentMs() > CHAIN_SILENT_MAX_MS) refuse(ctx, 503, 'the chain does not answer')
    else ctx.body = { status: 'ready' }
  }
}
