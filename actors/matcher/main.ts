import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { loadDeployedMarkets } from '../../data/deployed-markets.js'
import { runActor } from '../run-actor.js'
import { answerPings } from './answer-pings.js'
import { askExecutorAt } from './ask-executor.js'
import { askReversalsAt } from './ask-reversals.js'
import { executorOf, readMatcherConfig } from './config.js'
import { startMatcher } from './matcher.js'
import { observeMatcher } from './observe.js'
import { REVERSALS_EVERY_MS } from './watch-reversals.js'

const config = readMatcherConfig()
const PROCESS = `matcher-${config.MARKET}`
const standby = config.STANDBY === '1'
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
    const executor = executorOf(config)
    const matcher = await startMatcher({
      bus,
      market,
      ask: askExecutorAt(executor),
      reversals: { ask: askReversalsAt(executor), everyMs: REVERSALS_EVERY_MS },
      lateAfterMs: config.SETTLEMENT_LATE_SECONDS * 1_000,
      facts: observeMatcher(log),
      nowMs: Date.now,
      tickMs: TICK_MS,
      onFatal: fail,
      standby,
      checkpoints: {
        everyCommands: config.CHECKPOINT_COMMANDS,
        everyMs: config.CHECKPOINT_SECONDS * 1_000,
        keepCommandsMs: config.COMMANDS_KEEP_HOURS * 3_600_000,
      },
    })
    const pings = await answerPings(bus, { process: PROCESS, standby }, matcher)
    return {
      async stop() {
        await pings.stop()
        await matcher.stop()
        await bus.close()
      },
    }
  },
})
