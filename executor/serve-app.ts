import type { Server } from 'node:http'
import { createHttpServer, listen, urlOf } from '../runtime/http/server.js'
import type { Logger } from '../runtime/process/log.js'
import type { createApp } from './app.js'
import { CONNECTION_LIMITS, type ExecutorConfig } from './config.js'

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
