import { Router } from '@koa/router'
import type Koa from 'koa'
import type { Server } from 'node:http'
import {
  createHttpApp,
  createHttpServer,
  listen,
  urlOf,
  type HttpAppOptions,
  type HttpState,
} from '../runtime/http/server.js'
import type { Logger } from '../runtime/process/log.js'
import { CONNECTION_LIMITS, type ExecutorConfig } from './config.js'
import { guardDoor, type DoorRules } from './door.js'
import type { Executor, ReadDurableReversals } from './open-executor.js'
import { executorRefusals, refuse, unavailable } from './refusals.js'
import { getFaults } from './routes/get-faults.js'
import { getReversals } from './routes/get-reversals.js'
import { postAcceptForeign } from './routes/post-accept-foreign.js'
import { postExecute, type PostExecuteDeps } from './routes/post-execute.js'
import type { FaultWatch } from './watch-faults.js'

interface AppDeps
  extends
    PostExecuteDeps,
    Pick<Executor, 'acceptForeign'>,
    Pick<HttpAppOptions, 'log' | 'onFatal' | 'onAnswer'> {
  readonly readReversals: ReadDurableReversals
  readonly faults: Pick<FaultWatch, 'standing'>
  /** Why no match could be settled now; undefined when one could. */
  readonly trouble: () => string | undefined
  /** Who may call `/execute`, `/faults` and `/reversals`. */
  readonly door: DoorRules
}

/** The executor as a Koa application that does not listen yet. */
export function createApp(deps: AppDeps): Koa<HttpState> {
  const { readReversals, faults, trouble } = deps
  const guard = guardDoor(deps.door)
  const router = new Router<HttpState>({ sensitive: true })
  router.get('/healthz', getHealthz)
  router.get('/readyz', getReadyz(trouble))
  router.post('/execute', guard, postExecute(deps))
  router.post('/accept-foreign', guard, postAcceptForeign(deps))
  router.get('/faults', guard, getFaults(faults))
  router.get('/reversals', guard, getReversals(readReversals))
  return createHttpApp({ ...deps, router, refuse, pathNotFound: executorRefusals.pathNotFound })
}

/** `GET /healthz`: the process is up and has reached the chain once. */
const getHealthz: Koa.Middleware<HttpState> = (ctx) => {
  ctx.body = { status: 'ok' }
}

/** `GET /readyz`: 200 while a match could be settled; otherwise 503 with the reason. */
const getReadyz =
  (trouble: () => string | undefined): Koa.Middleware<HttpState> =>
  (ctx) => {
    const reason = trouble()
    if (reason !== undefined) refuse(ctx, unavailable(reason))
    else ctx.body = { status: 'ready' }
  }

/** Listens where the settings say; rejects when it cannot. */
export async function serveApp(
  app: ReturnType<typeof createApp>,
  { EXECUTOR_HOST: host, EXECUTOR_PORT: wanted }: ExecutorConfig,
  log: Logger,
): Promise<Server> {
  const server = createHttpServer(app.callback(), CONNECTION_LIMITS)
  const port = await listen(server, wanted, host)
  log.info({ url: urlOf(host, port) }, 'listening')
  return server
}
