import { join } from 'node:path'
import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { loadDeployment } from '../../chain/deployment.js'
import { readFrameHeader } from '../../chain/read-frame-header.js'
import { loadDeployedMarkets } from '../../data/deployed-markets.js'
import { openIntakeRegistry } from '../../data/intake-registry.js'
import { runActor } from '../run-actor.js'
import { readOrderIntakeConfig } from './config.js'
import { openChain } from './open-chain.js'
import { readStorage } from '../../bus-schemas/nats-server-check.js'
import { watchAdmission } from './admission.js'
import { PROCESS_NAME, startOrderIntake } from './start.js'

const config = readOrderIntakeConfig()

runActor({
  name: PROCESS_NAME,
  level: config.LOG_LEVEL,
  start: async ({ log, fail }) => {
    const markets = loadDeployedMarkets(config.DEPLOYMENT_FILE)
    const registry = openIntakeRegistry(join(config.DATA_DIR, 'intake.db'))
    const bus = await connectNatsBus({
      url: config.NATS_URL,
      name: PROCESS_NAME,
      monitorUrl: config.NATS_MONITOR_URL,
      onWarning: (message) => log.warn(message),
    })
    const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
    const chain = await openChain(config.RPC_URL, deployment, (message) => log.warn(message))
    const protectedPrefixes = config.PROTECTED_ORDER_ID_PREFIXES
    const words = { domain: config.AUTH_DOMAIN, product: config.AUTH_PRODUCT }
    const readFrame = (header: string) => readFrameHeader(header, { words, nowMs: Date.now })
    const authority = { protectedPrefixes, cancelAuth: config.CANCEL_AUTH, readFrame }
    const admission = watchAdmission({
      bus,
      markets: markets.map(({ market }) => market),
      readStorage: () => readStorage(config.NATS_MONITOR_URL),
      log,
    })
    const places = { bus, registry, markets, nowMs: Date.now, log, onFatal: fail }
    const intake = await startOrderIntake({ ...places, ...authority, ...chain, admission })
    return {
      stop: async () => {
        await admission.stop()
        await intake.stop()
        await bus.close()
        registry.close()
      },
    }
  },
})
