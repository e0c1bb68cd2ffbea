import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { findMarketByName } from '../../core/find-market.js'
import { loadDeployedMarkets } from '../../data/deployed-markets.js'
import { answerPing } from '../answer-ping.js'
import { runActor } from '../run-actor.js'
import { readWsFanoutConfig } from './config.js'
import { startFanOut } from './fan-out.js'
import { SESSION_LIMITS } from './limits.js'

const PROCESS = 'ws-fanout'
const config = readWsFanoutConfig()

runActor({
  name: PROCESS,
  level: config.LOG_LEVEL,
  start: async ({ log, fail }) => {
    const markets = loadDeployedMarkets(config.DEPLOYMENT_FILE)
    const bus = await connectNatsBus({
      url: config.NATS_URL,
      name: PROCESS,
      ...(config.NATS_MONITOR_URL === undefined ? {} : { monitorUrl: config.NATS_MONITOR_URL }),
      onWarning: (message) => log.warn(message),
    })
    const fanOut = await startFanOut({
      bus,
      markets,
      findMarket(name) {
        const clock = { nowMs: Date.now(), aliasesUntilMs: config.ALIAS_CUTOFF }
        const found = findMarketByName(markets, name, clock)
        return 'market' in found ? found.market : undefined
      },
      port: config.WS_FANOUT_PORT,
      allowedOrigins: config.WS_ALLOWED_ORIGINS,
      limits: {
        ...SESSION_LIMITS,
        maxSockets: config.WS_MAX_SOCKETS,
        maxSocketsPerAddress: config.WS_MAX_SOCKETS_PER_ADDRESS,
      },
      words: { domain: config.AUTH_DOMAIN, product: config.AUTH_PRODUCT },
      log,
      onFailure: fail,
    })
    const pings = await answerPing(bus, PROCESS, () => fanOut.standing())
    return {
      async stop() {
        await pings.stop()
        await fanOut.stop()
        await bus.close()
      },
    }
  },
})
