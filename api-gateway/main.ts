import { connectNatsBus } from '../bus-schemas/nats-bus.js'
import { runProcess } from '../bus-schemas/process.js'
import { loadDeployedMarkets } from '../data/deployed-markets.js'
import { historyPath } from '../data/history-database.js'
import { createApp } from './app.js'
import { readGatewayConfig } from './config.js'
import { closeServer, createHttpServer, listen } from './http-server.js'
import { openReadModelWhenMade } from './open-read-model.js'
import { createOwnWrites } from './own-writes.js'
import { createReadiness } from './readiness.js'
import { relayUpgrades } from './ws-upgrade.js'

/** Longer than an order waits for its answer. */
const STOP_GRACE_MS = 3_500
const config = readGatewayConfig()

runProcess({
  name: 'gateway',
  level: config.LOG_LEVEL,
  start: async (log) => {
    const markets = loadDeployedMarkets(config.DEPLOYMENT_FILE)
    const readModel = await openReadModelWhenMade(historyPath(config.DATA_DIR), log)
    const bus = await connectNatsBus({
      url: config.NATS_URL,
      name: 'gateway',
      monitorUrl: config.NATS_MONITOR_URL,
      onWarning: (message) => log.warn(message),
    })
    const app = createApp({
      bus,
      markets,
      readModel,
      ownWrites: createOwnWrites({ readModel }),
      readiness: createReadiness({ bus, readModel, markets, executorUrl: config.EXECUTOR_URL }),
      aliasCutoffMs: config.ALIAS_CUTOFF,
      auth: {
        header: config.AUTH_HEADER,
        words: { domain: config.AUTH_DOMAIN, product: config.AUTH_PRODUCT },
      },
      trustedProxies: config.TRUSTED_PROXIES,
      nowMs: Date.now,
      log,
    })
    const handle = app.callback()
    const server = createHttpServer((request, response) => void handle(request, response))
    const relay = relayUpgrades({ server, fanoutUrls: config.WS_FANOUT_URL, log })
    const port = await listen(server, config.GATEWAY_PORT, config.GATEWAY_HOST)
    log.info({ port, host: config.GATEWAY_HOST }, 'listening')
    return {
      stop: async () => {
        relay.stop()
        await closeServer(server, STOP_GRACE_MS)
        await bus.close()
        readModel.close()
      },
    }
  },
})
