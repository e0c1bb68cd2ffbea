import { mkdir } from 'node:fs/promises'
import { streamVersions } from '../bus-schemas/stream-versions.js'
import { loadDeployment } from '../chain/reads/deployment.js'
import { guardChain } from '../chain/reads/guard-chain.js'
import { keyEvents, openSigners } from '../chain/signing/open-signers.js'
import { createMarketList } from '../core/entry/find-market.js'
import { JOURNAL_FILES } from '../data/journal/journal-file.js'
import { noteDamage } from '../data/open.js'
import { databasePath } from '../data/places.js'
import { openRegister } from '../runtime/bus/market-register.js'
import { connectVenueBus } from '../runtime/bus/stream-versions.js'
import { closeServer } from '../runtime/http/server.js'
import { alongside, measureHttp } from '../runtime/metrics/metrics.js'
import { orExit } from '../runtime/process/cannot-start.js'
import { runProcess } from '../runtime/process/process.js'
import { createAdmission } from './admit.js'
import { createApp, serveApp } from './app.js'
import { readExecutorConfig, settingsOf, STOP_GRACE_MS } from './config.js'
import { measureExecutor, sampleExecutor } from './measure.js'
import { observeExecutor } from './observe.js'
import { openExecutor } from './open-executor.js'
import { createTermsCheck } from './payload.js'

const config = orExit(readExecutorConfig)

runProcess({
  name: 'executor',
  level: config.LOG_LEVEL,
  onDamage: () => noteDamage(databasePath(config.DATA_DIR, JOURNAL_FILES.executor)),
  // Listens once everything that the journal left open has been sent again.
  start: async ({ log, fail: onFatal, end, metrics }) => {
    await mkdir(config.DATA_DIR, { recursive: true })
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    await guardChain({
      rpcUrl: config.RPC_URL,
      chainId: deployment.chainId,
      log,
      show: metrics.gauge('venue_other_chain'),
      onFatal,
    })
    const bus = await connectVenueBus({
      config,
      user: 'executor',
      versions: streamVersions([]),
      onWarning: (message) => log.warn(message),
    })
    const register = await openRegister({ bus, log, onError: onFatal })
    const list = createMarketList(register.markets)
    const executor = await openExecutor({
      ...settingsOf(config),
      bus,
      markets: list.markets,
      deployment,
      onFatal,
      onSetAside: (message) => log.warn(message),
      signers: openSigners(config.key, deployment.chainId, keyEvents(log, end)),
      facts: alongside(observeExecutor(log), measureExecutor(metrics)),
    })
    register.watch(({ market }) => list.add(market))
    const checkTerms = createTermsCheck(list.markets)
    sampleExecutor(metrics, executor, config.EXECUTOR_GAS_RESERVE_WEI)
    const admit = createAdmission(bus)
    const parts = { ...executor, checkTerms, admit, log, onFatal, onAnswer: measureHttp(metrics) }
    const app = createApp({ ...parts, door: config.door })
    const server = await serveApp(app, config, log)
    return {
      stop: async () => {
        const closed = closeServer(server, STOP_GRACE_MS)
        await Promise.all([register.stop(), executor.stop()])
        // Requests in flight still write to the journal.
        await closed
        await executor.close()
        await bus.close()
      },
    }
  },
})
