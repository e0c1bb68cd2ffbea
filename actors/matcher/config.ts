import { z } from 'zod'
import { KEEP_FEED_CHANGES } from '../../core/limits.js'
import { ENGINE_VERSION } from '../../core/engine/engine-version.js'
import {
  checkOperator,
  operatorKeys,
  type CheckOperator,
} from '../../runtime/bus/check-operator.js'
import { busEnv } from '../../runtime/bus/nats-access.js'
import {
  MAX_COUNT,
  MAX_TIMER_MS,
  marketList,
  ownProcessMarkets,
  parseEnv,
  standby,
  urlList,
} from '../../runtime/process/config.js'
import { executorSecretEnv, executorSecretOf } from '../../runtime/process/shared-secret.js'
import type { ExecutorAddress } from './ask-executor.js'
import { createExecutors } from './executors.js'
import type { MatcherOptions, CheckpointSettings } from './settings.js'

const positiveInt = z.coerce.number().int().positive().max(MAX_COUNT)

/** A hundred years. */
const MAX_KEEP_HOURS = 876_600

/** The value of MARKET with which a process runs all markets that have no process of their own. */
export const EVERY_OTHER_MARKET = '*'

/** Settings of a matcher, by the names of its environment. */
export const matcherEnv = z.object({
  /**
   * Canonical name of the market that this process runs; `*`: every registered market but those of MARKETS_ELSEWHERE; without it, it starts
   * such processes for all registered markets.
   */
  MARKET: z.string().min(1).optional(),
  OWN_PROCESS_MARKETS: ownProcessMarkets,
  /** Registered markets that this process neither runs nor starts a process for. */
  MARKETS_ELSEWHERE: marketList,
  ...busEnv.shape,
  /** Several, separated by commas: one of them leads. */
  EXECUTOR_URL: urlList,
  ...executorSecretEnv,
  /** How long to wait for one answer of the executor; longer than it waits for a receipt itself. */
  EXECUTOR_TIMEOUT_MS: z.coerce.number().int().positive().max(MAX_TIMER_MS).default(40_000),
  /** A settlement without an outcome for so long is reported in the log and on the health page. */
  SETTLEMENT_LATE_SECONDS: positiveInt.default(60),
  /** Who may change markets: `<name>=<public key>`, comma-separated; without any no change is taken. */
  OPERATOR_KEYS: operatorKeys,
  /** `1`: follows the market's leader and takes over when it is gone. */
  STANDBY: standby,
  /** A checkpoint is written after so many commands, or so many seconds, whichever comes first. */
  CHECKPOINT_COMMANDS: positiveInt.default(100_000),
  CHECKPOINT_SECONDS: positiveInt.default(600),
  /** Engine version that the leader sets once all matchers of the market carry it out; by default the log keeps its own. */
  ENGINE_VERSION: positiveInt
    .max(ENGINE_VERSION, `is at most ${ENGINE_VERSION}, the newest that this build carries out`)
    .optional(),
  /** How long the command log is kept at least. */
  COMMANDS_KEEP_HOURS: positiveInt.max(MAX_KEEP_HOURS).default(168),
  /** The projector's: how much of its feed a market keeps whatever it is asked to trim; absent: all of it. */
  FEED_KEEP_DAYS: z.coerce.number().int().min(1).max(29).optional(),
  LOG_LEVEL: z.string().default('info'),
})

export interface MatcherConfig extends Readonly<z.infer<typeof matcherEnv>> {
  readonly executorSecret: string
}

/** Throws BadConfiguration and CannotStart. */
export function readMatcherConfig(): MatcherConfig {
  const env = parseEnv(matcherEnv, process.env)
  return { ...env, executorSecret: executorSecretOf(env) }
}

/** The environment of the process that runs one of the markets: that of this process and the market's name. */
export function environmentOf(market: string): NodeJS.ProcessEnv {
  return { ...process.env, MARKET: market, PARENT_WATCH: '1' }
}

/** The environment of the process that runs every registered market but these. */
export function environmentOfShared(elsewhere: readonly string[]): NodeJS.ProcessEnv {
  return { ...environmentOf(EVERY_OTHER_MARKET), MARKETS_ELSEWHERE: elsewhere.join(',') }
}

/** The executor's address, and how long to wait for it. */
export function executorOf(config: MatcherConfig): ExecutorAddress {
  return {
    executors: createExecutors(config.EXECUTOR_URL.map(({ href }) => href)),
    secret: config.executorSecret,
    timeoutMs: config.EXECUTOR_TIMEOUT_MS,
  }
}

export const operatorsOf = ({ OPERATOR_KEYS: keys }: MatcherConfig): CheckOperator =>
  checkOperator({ keys, nowMs: Date.now })

export function checkpointsOf(config: MatcherConfig): CheckpointSettings {
  return {
    everyCommands: config.CHECKPOINT_COMMANDS,
    everyMs: config.CHECKPOINT_SECONDS * 1_000,
    keepCommandsMs: config.COMMANDS_KEEP_HOURS * 3_600_000,
  }
}

/** What is kept of the market's streams. */
export function keepingOf(
  config: MatcherConfig,
): Pick<MatcherOptions, 'checkpoints' | 'feedKeeping'> {
  const { FEED_KEEP_DAYS: days } = config
  const feedKeeping = days && { keepMs: days * 86_400_000, keepChanges: KEEP_FEED_CHANGES }
  return { checkpoints: checkpointsOf(config), ...(feedKeeping && { feedKeeping }) }
}
