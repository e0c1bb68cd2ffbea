import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watchNames } from '../../data/market-file.js'
import { describeAbsent, loadDeployedMarkets, tradedMarketNames } from '../../data/markets.js'
import type { Logger } from '../../runtime/process/log.js'
import { runProcess, STOP_DEADLINE_MS } from '../../runtime/process/process.js'
import {
  childOf,
  supervise,
  type Child,
  type Supervised,
} from '../../runtime/process/supervisor.js'
import { environmentOf, type MatcherConfig } from './config.js'

/** Leaves this process time to end within its own deadline. */
const CHILD_GRACE_MS = STOP_DEADLINE_MS - 500

export interface MatchersOptions {
  readonly markets: readonly string[]
  /** Arguments of node for a matcher's process; the market is in its environment. */
  readonly args: readonly string[]
  readonly log: Logger
}

/**
 * Runs one process per market on the deployment whose orders are taken, each as this one with the market's name in MARKET.
 * A market that is added to the file gets its process without a restart of the others.
 */
export function runEveryMarket(config: MatcherConfig, program: string): void {
  runProcess({
    name: 'matchers',
    level: config.LOG_LEVEL,
    start: ({ log, fail }) => {
      const args = [...process.execArgv, program]
      const markets = tradedMarketNames(config)
      for (const row of loadDeployedMarkets(config).absent) log.info(describeAbsent(row))
      const matchers = superviseMatchers({ markets, args, log })
      const watch = watchNames({
        names: () => tradedMarketNames(config),
        known: markets,
        onName: (market) => matchers.add(market),
        onError: fail,
      })
      return Promise.resolve({
        stop: async () => {
          await watch.stop()
          await matchers.stop()
        },
      })
    },
  })
}

/** The matchers of a venue. */
export interface Matchers {
  /** Starts the matcher of one market more. */
  add(market: string): void
  stop(): Promise<void>
}

/**
 * Starts a process per market. One that ends by itself is started again, after a pause that grows while it keeps ending;
 * the others go on. All share this process's output. They stop by themselves when this process is gone.
 */
export function superviseMatchers({ markets, args, log }: MatchersOptions): Matchers {
  const start = (market: string): Supervised =>
    supervise({
      name: market,
      start: async (spawned) => spawned(await startMatcherProcess(market, args)),
      onStart: (pid) => log.info({ market, pid }, 'matcher started'),
      onEnd: (pid) => log.info({ market, pid }, 'matcher ended'),
      onCrash: (reason, inARow, pauseMs) =>
        log.warn({ market, reason, in_a_row: inARow, pause_ms: pauseMs }, 'matcher is restarted'),
      onCrashLoop: (inARow) => log.error({ market, in_a_row: inARow }, 'matcher keeps ending'),
    })
  const matchers = markets.map(start)
  return {
    add: (market) => void matchers.push(start(market)),
    stop: async () => {
      await Promise.all(matchers.map((matcher) => matcher.stop(CHILD_GRACE_MS)))
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
