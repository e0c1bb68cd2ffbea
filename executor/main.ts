import { mkdir } from 'node:fs/promises'
import { loadDeployment } from '../chain/reads/deployment.js'
import { createMarketList } from '../core/contracts/market-list.js'
import { openMarketFile } from '../data/market-file.js'
import { closeServer, createHttpServer, listen, urlOf } from '../runtime/http/server.js'
import { measureHttp } from '../runtime/metrics/measure-http.js'
import { alongside } from '../runtime/metrics/metrics.js'
import { orExit } from '../runtime/process/cannot-start.js'
import { runProcess } from '../runtime/process/process.js'
import { createApp } from './app.js'
import { CONNECTION_LIMITS, groupingOf, readExecutorConfig } from './config.js'
import { measureExecutor, sampleExecutor } from './measure.js'
import { observeExecutor } from './observe.js'
import { openExecutor } from './open-executor.js'
import { createTermsCheck } from './payload.js'

/** Shorter than the deadline of a stop; requests in flight are answered as soon as the executor stops. */
const STOP_GRACE_MS = 3_500
const config = orExit(readExecutorConfig)

runProcess({
  ...{ name: 'executor', level: config.LOG_LEVEL },
  // Listens once everything that the journal left open has been sent again.
  start: async ({ log, fail: onFatal, metrics }) => {
    await mkdir(config.DATA_DIR, { recursive: true })
    const file = openMarketFile(config)
    const list = createMarketList(file.markets)
    const executor = await openExecutor({
      rpcUrl: config.RPC_URL,
      privateKey: config.EXECUTOR_PRIVATE_KEY,
      deployment: await loadDeployment(config.DEPLOYMENT_FILE),
      ...{ markets: list.markets, dataDir: config.DATA_DIR, timeoutMs: config.EXECUTE_TIMEOUT_MS },
      gasReserveWei: config.EXECUTOR_GAS_RESERVE_WEI,
      acceptNonces: config.EXECUTOR_ACCEPT_NONCES,
      ...groupingOf(config),
      facts: alongside(observeExecutor(log), measureExecutor(metrics)),
      onFatal,
    })
    const watch = file.watch(list.add, onFatal)
    const lookAgain = () => openMarketFile(config).markets.forEach(list.add)
    const checkTerms = createTermsCheck(list.markets, lookAgain)
    sampleExecutor(metrics, executor, config.EXECUTOR_GAS_RESERVE_WEI)
    const onAnswer = measureHttp(metrics)
    const secret = config.EXECUTOR_SECRET
    const app = createApp({ ...executor, checkTerms, secret, log, onFatal, onAnswer })
    const server = createHttpServer(app.callback(), CONNECTION_LIMITS)
    const port = await listen(server, config.EXECUTOR_PORT, config.EXECUTOR_HOST)
    log.info({ url: urlOf(config.EXECUTOR_HOST, port) }, 'listening')
    return {
      stop: async () => {
        const closed = closeServer(server, STOP_GRACE_MS)
        await watch.stop()
        await executor.stop()
        // Requests in flight still write to the journal.
        await closed
        executor.close()
      },
    }
  },
})
