import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { mkdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import type { Logger } from '../bus-schemas/log.js'
import type { Running } from '../bus-schemas/process.js'
import { loadDeployment } from '../chain/deployment.js'
import { loadDeployedMarkets } from '../data/deployed-markets.js'
import { createApp } from './app.js'
import { createTermsCheck } from './check-terms.js'
import type { ExecutorConfig } from './config.js'
import { observeExecutor } from './observe.js'
import { openExecutor } from './open-executor.js'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const IDLE_SWEEP_MS = 20
const MAX_HEADER_BYTES = 16 * 1024

export interface Serving extends Running {
  readonly url: string
}

/** Runs the executor by its settings, listening once everything that was left open has been sent again. */
export async function serve(config: ExecutorConfig, log: Logger): Promise<Serving> {
  const facts = observeExecutor(log)
  const onFatal = (error: unknown): never => {
    log.fatal({ err: error }, 'cannot go on')
    process.exit(1)
  }
  await mkdir(config.DATA_DIR, { recursive: true })
  const markets = loadDeployedMarkets(config.DEPLOYMENT_FILE)
  const executor = await openExecutor({
    rpcUrl: config.RPC_URL,
    privateKey: config.EXECUTOR_PRIVATE_KEY,
    deployment: await loadDeployment(config.DEPLOYMENT_FILE),
    markets,
    dataDir: config.DATA_DIR,
    timeoutMs: config.EXECUTE_TIMEOUT_MS,
    gasReserveWei: config.EXECUTOR_GAS_RESERVE_WEI,
    acceptNonces: config.EXECUTOR_ACCEPT_NONCES,
    windowMs: config.EXECUTOR_BATCH_WINDOW_MS,
    facts,
    onFatal,
  })
  const secret = config.EXECUTOR_SECRET
  const checkTerms = createTermsCheck(markets)
  const app = createApp({ ...executor, checkTerms, secret, facts, onFatal })
  const handle = app.callback()
  const server = await listen((request, response) => void handle(request, response), config)
  const url = urlOf(server)
  log.info({ url }, 'listening')
  return {
    url,
    async stop() {
      const closed = closeServer(server)
      await executor.stop()
      // Requests under way still write to the journal.
      await closed
      executor.close()
    },
  }
}

function listen(
  handle: RequestListener,
  { EXECUTOR_HOST, EXECUTOR_PORT }: ExecutorConfig,
): Promise<Server> {
  const options = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  }
  return new Promise((resolve, reject) => {
    const server = createServer(options, handle)
    server.once('error', reject)
    server.listen(EXECUTOR_PORT, EXECUTOR_HOST, () => resolve(server))
  })
}

/** Resolves when every request under way is answered; connections are not kept for another. */
async function closeServer(server: Server): Promise<void> {
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
  await new Promise((resolve) => server.close(resolve))
  clearInterval(sweep)
}

function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
