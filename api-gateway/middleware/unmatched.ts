import type Koa from 'koa'
import { refusals } from '../../core/refusals.js'
import type { GatewayState } from '../context.js'
import { refuse } from '../refuse.js'

/** What the router leaves behind: the routes whose path matched, whatever their method. */
interface RoutedContext {
  readonly matched?: readonly { readonly methods: readonly string[] }[]
}

/** Answers what no route took: 405 with `Allow` on a known path, else 404. Stands behind the router. */
export const unmatched: Koa.Middleware<GatewayState> = (ctx) => {
  const { matched = [] } = ctx as RoutedContext
  if (matched.length === 0) {
    refuse(ctx, refusals.pathNotFound)
    return
  }
  ctx.set('Allow', [...new Set(matched.flatMap(({ methods }) => methods))].join(', '))
  refuse(ctx, refusals.methodNotAllowed)
}
