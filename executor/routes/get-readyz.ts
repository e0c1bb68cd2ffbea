import type Koa from 'koa'
import { refuse } from '../refuse.js'

/** `GET /readyz`: 200 while a match could be settled; otherwise 503 with the reason. */
export function getReadyz(trouble: () => string | undefined): Koa.Middleware {
  return (ctx) => {
    const why = trouble()
    if (why !== undefined) refuse(ctx, 503, why)
    else ctx.body = { status: 'ready' }
  }
}
