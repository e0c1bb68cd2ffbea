import { streamVersions } from '../../bus-schemas/stream-versions.js'
import type { Market } from '../../core/model/market.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { openRegister } from '../../runtime/bus/market-register.js'
import { connectVenueBus } from '../../runtime/bus/stream-versions.js'
import { alongside, type Metrics } from '../../runtime/metrics/metrics.js'
import { createLog, createLogOutput, type Logger } from '../../runtime/process/log.js'
import { createLoopTurns, type LoopTurns } from '../../runtime/process/loop-turns.js'
import { runProcess, type RunningProcess } from '../../runtime/process/process.js'
import { askExecutorAt } from './ask-executor.js'
import { executorOf, keepingOf, operatorsOf, type MatcherConfig } from './config.js'
import { openDownMarkets } from './down-markets.js'
import { STEP_NOTE_ARG, STEP_NOTE_FD } from './every-market.js'
import { askFaultsAt } from './faults.js'
import { startMatcher, type Matcher } from './matcher.js'
import { answerPings, measureMatchers, sampleMatchers, type MeasureMarket } from './measure.js'
import { observeMatcher } from './observe.js'
import { readOwnMarket } from './own-market.js'
import { askReversalsAt } from './reversals.js'
import { FAULTS_EVERY_MS, REVERSALS_EVERY_MS } from './settings.js'
import { runSharedMarkets } from './shared-markets.js'
import { createStepNote, type StepNote } from './step-note.js'

/** The market looks at its clock once a second. */
const TICK_MS = 1_000

/** The process of one market; it ends when the market fails. */
export function runMarket(config: MatcherConfig, name: string): void {
  const process = `matcher-${name}`
  runProcess({
    name: process,
    level: config.LOG_LEVEL,
    ...(config.STANDBY === '1' && { instance: `${process}-standby` }),
    start: async ({ log, fail, metrics }) => {
      const bus = await connectBus(config, process, log)
      const market = await readOwnMarket({ bus, log, onError: fail }, name)
      const machinery = openMachinery(config, metrics)
      const running = await startMarket(machinery, { market, bus, log, fail })
      return {
        async stop() {
          await running.stop()
          await bus.close()
        },
      }
    },
  })
}

/** The process of every registered market that has none elsewhere; a market that fails is started again in it. */
export function runOtherMarkets(config: MatcherConfig): void {
  const process = 'matcher-shared'
  const output = createLogOutput()
  runProcess({
    name: process,
    level: config.LOG_LEVEL,
    ...(config.STANDBY === '1' && { instance: `${process}-standby` }),
    start: async ({ log, fail, metrics }) => {
      const bus = await connectBus(config, process, log)
      const register = await openRegister({ bus, log, onError: fail })
      const down = openDownMarkets({ bus, standby: config.STANDBY === '1', onError: fail })
      const machinery = openMachinery(config, metrics, down.names)
      const shared = runSharedMarkets({
        onDown: down.add,
        bus,
        logOf: (market) => createLog(`matcher-${market}`, config.LOG_LEVEL, output),
        start: (place) => startMarket(machinery, place),
      })
      const elsewhere = new Set(config.MARKETS_ELSEWHERE)
      const add = (market: Market): void => {
        if (elsewhere.has(market.market)) return
        machinery.running.set(market.market, undefined)
        shared.add(market)
      }
      for (const market of register.markets) add(market)
      register.watch(({ market, isNew }) => {
        if (isNew) add(market)
      })
      return {
        async stop() {
          await register.stop()
          await shared.stop()
          await down.stop()
          await bus.close()
        },
      }
    },
  })
}

const connectBus = (config: MatcherConfig, name: string, log: Logger): Promise<Bus> =>
  connectVenueBus({
    versions: streamVersions([]),
    config,
    user: 'matcher',
    name,
    onWarning: (message) => log.warn(message),
  })

/** What all markets of a process have in common. */
interface Machinery {
  readonly config: MatcherConfig
  readonly measure: MeasureMarket
  readonly turns: LoopTurns
  readonly note: StepNote | undefined
  /** The matchers of its markets; undefined while one is not started. */
  readonly running: Map<string, Matcher | undefined>
}

function openMachinery(
  config: MatcherConfig,
  metrics: Metrics,
  down: () => Iterable<string> = () => [],
): Machinery {
  const running = new Map<string, Matcher | undefined>()
  const measure = measureMatchers(metrics, Date.now)
  sampleMatchers(metrics, () => running, down)
  const hasNote = process.argv.includes(STEP_NOTE_ARG)
  const note = hasNote ? createStepNote(STEP_NOTE_FD) : undefined
  return { config, measure, turns: createLoopTurns(), note, running }
}

interface StartedMarket {
  readonly market: Market
  readonly bus: Bus
  readonly log: Logger
  readonly fail: (error: unknown) => void
}

async function startMarket(
  { config, measure, turns, note, running }: Machinery,
  { market, bus, log, fail }: StartedMarket,
): Promise<RunningProcess> {
  const name = market.market
  const standby = config.STANDBY === '1'
  const executor = executorOf(config)
  const onStep = note?.of(name)
  const matcher = await startMatcher({
    bus,
    market,
    standby,
    turns,
    ...(onStep !== undefined && { onStep }),
    facts: alongside(observeMatcher(log), measure(name)),
    onFatal: (error) => {
      running.set(name, undefined)
      fail(error)
    },
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
  running.set(name, matcher)
  const pinged = { process: `matcher-${name}`, standby, onError: fail }
  const answering = answerPings(bus, pinged, matcher)
  // A market that did not start leaves nothing running.
  answering.catch(() => {
    running.set(name, undefined)
    matcher.stop().catch(fail)
  })
  const pings = await answering
  return {
    async stop() {
      running.set(name, undefined)
      await pings.stop()
      await matcher.stop()
    },
  }
}
