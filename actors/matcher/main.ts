import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { loadDeployedMarkets } from '../../data/deployed-markets.js'
import { answerPing } from '../answer-ping.js'
import { runActor } from '../run-actor.js'
import { askExecutorAt } from './ask-executor.js'
import { readMatcherConfig } from './config.js'
import { startMatcher } from './matcher.js'
import { observeMatcher } from './observe.js'

const config = readMatcherConfig()
const PROCESS = `matcher-${config.MARKET}`
const TICK_MS = 1_000

runActor({
  name: PROCESS,
  level: config.LOG_LEVEL,
  start: async ({ log, fail }) => {
    const markets = loadDeployedMarkets(config.DEPLOYMENT_FILE)
    const market = markets.find(({ market }) => market === config.MARKET)
    if (market === undefined) throw new Error(`MARKET ${config.MARKET} is not in the market file`)
    const bus = await connectNatsBus({
      url: config.NATS_URL,
      name: PROCESS,
      monitorUrl: config.NATS_MONITOR_URL,
      onWarning: (message) => log.warn(message),
    })
    const matcher = await startMatcher({
      bus,
      market,
      ask: askExecutorAt({
        url: config.EXECUTOR_URL,
        secret: config.EXECUTOR_SECRET,
        timeoutMs: config.EXECUTOR_TIMEOUT_MS,
      }),
      facts: observeMatcher(log),
      nowMs: Date.now,
      tickMs: TICK_MS,
      onFatal: fail,
    })
    const pings = await answerPing(bus, PROCESS, () => ({
      ready: matcher.isLive() && bus.isConnected(),
      detail: matcher.isLive() ? 'live' : 'replaying its log',
      positions: matcher.positions(),
    }))
    return {
      async stop() {
        await pings.stop()
        await matcher.stop()
        await bus.close()
      },
    }
  },
})
