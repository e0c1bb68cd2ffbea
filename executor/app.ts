import { Router } from '@koa/router'
import Koa from 'koa'
import { authorize } from './authorize.js'
import { errors } from './errors.js'
import { refuse } from './refuse.js'
import type { ReadReversals } from './reversals.js'
import { getHealthz } from './routes/get-healthz.js'
import { getReadyz } from './routes/get-readyz.js'
import { getReversals } from './routes/get-reversals.js'
import { postExecute } from './routes/post-execute.js'
import type { PostExecuteDeps } from './routes/post-execute.js'

export interface AppDeps extends PostExecuteDeps {
  readonly readReversals: ReadReversals
  /** Why no match could be settled now. */
  readonly trouble: () => string | undefined
  /** What callers of `/execute` and `/reversals` must show; undefined lets everybody in, for loopback only. */
  readonly secret: string | undefined
  readonly facts: { readonly requestFailed: (error: unknown) => void }
  /** An invariant is broken; the process must not go on. */
  readonly onFatal: (error: unknown) => void
}

/** The executor as a Koa application that listens nowhere yet. */
export function createApp(deps: AppDeps): Koa {
  const { readReversals, trouble, secret, facts, onFatal } = deps
  const app = new Koa()
  // Koa prints a stack for every client that hangs up before its answer; the funnel has told what is worth telling.
  app.on('error', () => undefined)

  const router = new Router({ sensitive: true })
  router.get('/healthz', getHealthz)
  router.get('/readyz', getReadyz(trouble))
  router.post('/execute', authorize(secret), postExecute(deps))
  router.get('/reversals', authorize(secret), getReversals(readReversals))

  app.use(errors({ requestFailed: facts.requestFailed, onFatal }))
  app.use(wordEmptyAnswers)
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

/** What no route answered: the router sets status and `Allow`, the words are ours. */
const wordEmptyAnswers: Koa.Middleware = async (ctx, next) => {
  await next()
  if (ctx.body !== undefined && ctx.body !== null) return
  if (ctx.status === 405) refuse(ctx, 405, 'method not allowed')
  else if (ctx.status === 501) refuse(ctx, 501, 'method not implemented')
  else if (ctx.status === 404) refuse(ctx, 404, 'not found')
}
