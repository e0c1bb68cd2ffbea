import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Market } from '../../core/model/market.js'
import { KEEP_FEED_CHANGES } from '../../core/limits.js'
import { ENGINE_VERSION } from '../../core/engine/engine-version.js'
import { LEADER_SILENCE_MS } from '../../runtime/actor/leadership.js'
import type { Bus } from '../../runtime/bus/bus.js'
import {
  checkOperator,
  operatorKeys,
  type CheckOperator,
} from '../../runtime/bus/check-operator.js'
import { busEnv } from '../../runtime/bus/nats-access.js'
import {
  MAX_COUNT,
  MAX_TIMER_MS,
  parseEnv,
  standby,
  urlList,
} from '../../runtime/process/config.js'
import { executorSecretEnv, executorSecretOf } from '../../runtime/process/shared-secret.js'
import type { AskExecutor, ExecutorAddress } from './ask-executor.js'
import { CHECKPOINT_SETTINGS, type CheckpointSettings } from './checkpoints.js'
import { createExecutors } from './executors.js'
import { FAULTS_EVERY_MS, type AskFaults } from './faults.js'
import type { MatcherFacts } from './observe.js'
import { REVERSALS_EVERY_MS, type AskReversals } from './reversals.js'
import { LATE_AFTER_MS } from './settle.js'
import type { FeedKeeping } from './trim-feed.js'

const positiveInt = z.coerce.number().int().positive().max(MAX_COUNT)

/** A hundred years. */
const MAX_KEEP_HOURS = 876_600

/** Settings of a matcher, by the names of its environment. */
export const matcherEnv = z.object({
  /** Canonical name of the market this process runs; without it, it runs one such process per registered market. */
  MARKET: z.string().min(1).optional(),
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

/** What a matcher is started with. */
export interface MatcherOptions {
  readonly bus: Bus
  readonly market: Market
  readonly ask: AskExecutor
  readonly facts: MatcherFacts
  readonly nowMs: () => number
  /** How often it is looked whether a tick is due. */
  readonly tickMs: number
  /** Called at most once, after an error that leaves the market's state in doubt; the process must end. */
  readonly onFatal: (error: unknown) => void
  /** Follows the leader and takes over once it is silent, instead of leading at once. */
  readonly standby?: boolean
  /** How long the leader must be silent before a standby takes over. */
  readonly silenceMs?: number
  readonly checkpoints?: CheckpointSettings
  /** What stays of the feed when it is asked to be trimmed; by default all of it. */
  readonly feedKeeping?: FeedKeeping | undefined
  /** The engine version to set in the log; undefined keeps that of the log. */
  readonly engineVersion?: number | undefined
  /** Judges who gives commands to the market; refuses every command by default. */
  readonly operators?: CheckOperator
  /** Where and how often to ask which settlements were reversed. */
  readonly reversals?: { readonly ask: AskReversals; readonly everyMs: number }
  /** Where and how often to ask what keeps all matches from being settled. */
  readonly faults?: { readonly ask: AskFaults; readonly everyMs: number }
  /** How long a settlement may be without an outcome until it counts as late. */
  readonly lateAfterMs?: number
  /** Distinguishes this process from any other. */
  readonly leaderId?: string
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/** The same with every default. */
export type MatcherSettings = Required<MatcherOptions>

export function withDefaults(given: MatcherOptions): MatcherSettings {
  return {
    standby: false,
    silenceMs: LEADER_SILENCE_MS,
    checkpoints: CHECKPOINT_SETTINGS,
    feedKeeping: undefined,
    engineVersion: undefined,
    operators: checkOperator({ keys: new Map(), nowMs: given.nowMs }),
    reversals: { ask: () => Promise.resolve([]), everyMs: REVERSALS_EVERY_MS },
    faults: { ask: () => Promise.resolve({}), everyMs: FAULTS_EVERY_MS },
    lateAfterMs: LATE_AFTER_MS,
    leaderId: randomUUID(),
    elapsedMs: () => performance.now(),
    ...given,
  }
}
