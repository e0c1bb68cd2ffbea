import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { openRegister } from '../../runtime/bus/market-register.js'
import { connectVenueBus } from '../../runtime/bus/stream-versions.js'
import type { Logger } from '../../runtime/process/log.js'
import { runProcess, STOP_DEADLINE_MS } from '../../runtime/process/process.js'
import {
  childOf,
  supervise,
  type Child,
  type SupervisedProcess,
} from '../../runtime/process/supervisor.js'
import { environmentOf, type MatcherConfig } from './config.js'

const NAME = 'matchers'
/** Leaves this process time to end within its own deadline. */
const CHILD_GRACE_MS = STOP_DEADLINE_MS - 500

export interface MatchersOptions {
  readonly markets: readonly string[]
  /** Arguments of node for a matcher's process; the market is in its environment. */
  readonly args: readonly string[]
  readonly log: Logger
}

/**
 * Runs one process per registered market, each as this one with the market's name in MARKET. A market that is registered later gets
 * its process without a restart of the others.
 */
export function runEveryMarket(config: MatcherConfig, program: string): void {
  runProcess({
    name: NAME,
    level: config.LOG_LEVEL,
    start: async ({ log, fail }) => {
      const bus = await connectVenueBus({
        config,
        user: 'matcher',
        name: NAME,
        versions: streamVersions([]),
        onWarning: (message) => log.warn(message),
      })
      const register = await openRegister({ bus, log, onError: fail })
      const args = [...process.execArgv, program]
      const markets = register.markets.map(({ market }) => market)
      const matchers = superviseMatchers({ markets, args, log })
      register.watch(({ market: { market } }) => matchers.add(market))
      return {
        stop: async () => {
          await register.stop()
          await matchers.stop()
          await bus.close()
        },
      }
    },
  })
}

/** The matchers of a venue. */
export interface Matchers {
  /** Starts the matcher of one market more; a known one has its own. */
  add(market: string): void
  stop(): Promise<void>
}

/**
 * Starts a process per market. One that ends by itself is started again, after a pause that grows while it keeps ending;
 * the others go on. All share this process's output. They stop by themselves when this process is gone.
 */
export function superviseMatchers({ markets, args, log }: MatchersOptions): Matchers {
  const start = (market: string): SupervisedProcess =>
    supervise({
      name: market,
      start: async (spawned) => spawned(await startMatcherProcess(market, args)),
      onStart: (pid) => log.info({ market, pid }, 'matcher started'),
      onEnd: (pid) => log.info({ market, pid }, 'matcher ended'),
      onCrash: (reason, inARow, pauseMs) =>
        log.warn({ market, reason, in_a_row: inARow, pause_ms: pauseMs }, 'matcher is restarted'),
      onCrashLoop: (inARow) => log.error({ market, in_a_row: inARow }, 'matcher keeps ending'),
    })
  const matchers = new Map(markets.map((market) => [market, start(market)]))
  return {
    add: (market) => {
      if (!matchers.has(market)) matchers.set(market, start(market))
    },
    stop: async () => {
      await Promise.all(Array.from(matchers.values(), (matcher) => matcher.stop(CHILD_GRACE_MS)))
    },
  }
}

/** Its standard input is a pipe that closes with this process, however this process ends. */
async function startMatcherProcess(market: string, args: readonly string[]): Promise<Child> {
  const child = spawn(process.execPath, args, {
    env: environmentOf(market),
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  // The child may close its input early; nothing is written to it.
  child.stdin.on('error', () => undefined)
  const started = childOf(child)
  await once(child, 'spawn')
  return started
}
