import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { loadDeployment } from '../../chain/deployment.js'
import { loadDeployedMarkets } from '../../data/deployed-markets.js'
import { runActor } from '../run-actor.js'
import { readChainReaderConfig } from './config.js'
import { openChainSource } from './open-chain.js'
import { PROCESS_NAME, startChainReader } from './start.js'

const config = readChainReaderConfig()

runActor({
  name: PROCESS_NAME,
  level: config.LOG_LEVEL,
  start: async ({ log, fail }) => {
    const deployed = loadDeployedMarkets(config.DEPLOYMENT_FILE)
    const markets = deployed.filter(({ contractType }) => contractType === 'spot')
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    const bus = await connectNatsBus({
      url: config.NATS_URL,
      name: PROCESS_NAME,
      monitorUrl: config.NATS_MONITOR_URL,
      onWarning: (message) => log.warn(message),
    })
    const source = openChainSource({ rpcUrl: config.RPC_URL, deployment, markets })
    const reader = await startChainReader({
      ...{ bus, markets, log, nowMs: Date.now, onFatal: fail },
      ...source,
    })
    return {
      async stop() {
        await reader.stop()
        await bus.close()
      },
    }
  },
})
