import { fileURLToPath } from 'node:url'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { connectVenueBus } from '../../runtime/bus/stream-versions.js'
import { alongside } from '../../runtime/metrics/metrics.js'
import { orExit } from '../../runtime/process/cannot-start.js'
import { runProcess } from '../../runtime/process/process.js'
import { askExecutorAt } from './ask-executor.js'
import { executorOf, keepingOf, operatorsOf, readMatcherConfig } from './config.js'
import { runEveryMarket } from './every-market.js'
import { askFaultsAt } from './faults.js'
import { startMatcher } from './matcher.js'
import { answerPings, measureMatcher, sampleMatcher } from './measure.js'
import { observeMatcher } from './observe.js'
import { readOwnMarket } from './own-market.js'
import { askReversalsAt } from './reversals.js'
import { FAULTS_EVERY_MS, REVERSALS_EVERY_MS } from './settings.js'

const config = orExit(readMatcherConfig)
/** The market looks at its clock once a second. */
const TICK_MS = 1_000

function runMarket(name: string): void {
  const process = `matcher-${name}`
  const standby = config.STANDBY === '1'
  runProcess({
    name: process,
    level: config.LOG_LEVEL,
    ...(standby && { instance: `${process}-standby` }),
    start: async ({ log, fail, metrics }) => {
      const bus = await connectVenueBus({
        versions: streamVersions([]),
        config,
        user: 'matcher',
        name: process,
        onWarning: (message) => log.warn(message),
      })
      const market = await readOwnMarket({ bus, log, onError: fail }, name)
      const executor = executorOf(config)
      const facts = alongside(observeMatcher(log), measureMatcher(metrics, name, Date.now))
      const matcher = await startMatcher({
        bus,
        market,
        standby,
        facts,
        onFatal: fail,
        operators: operatorsOf(config),
        ask: askExecutorAt(executor),
        faults: { ask: askFaultsAt(executor), everyMs: FAULTS_EVERY_MS },
        reversals: { ask: askReversalsAt(executor), everyMs: REVERSALS_EVERY_MS },
        nowMs: Date.now,
        tickMs: TICK_MS,
        ...keepingOf(config),
        lateAfterMs: config.SETTLEMENT_LATE_SECONDS * 1_000,
        engineVersion: config.ENGINE_VERSION,
      })
      sampleMatcher(metrics, name, matcher)
      const pings = await answerPings(bus, { process, standby }, matcher)
      return {
        async stop() {
          await pings.stop()
          await matcher.stop()
          await bus.close()
        },
      }
    },
  })
}

if (config.MARKET === undefined) runEveryMarket(config, fileURLToPath(import.meta.url))
else runMarket(config.MARKET)
