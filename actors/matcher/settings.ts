import { randomUUID } from 'node:crypto'
import type { SettlementTruth } from '../../core/engine/settlement-trail.js'
import type { Market } from '../../core/model/market.js'
import { LEADER_SILENCE_MS } from '../../runtime/actor/leadership.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { checkOperator, type CheckOperator } from '../../runtime/bus/check-operator.js'
import { createLoopTurns, type LoopTurns } from '../../runtime/process/loop-turns.js'
import type { AskExecutor } from './ask-executor.js'
import type { MatcherObserver } from './observe.js'
import { LATE_AFTER_MS } from './settle.js'

/** What a matcher is started with. */
export interface MatcherOptions {
  readonly bus: Bus
  readonly market: Market
  readonly ask: AskExecutor
  readonly facts: MatcherObserver
  readonly nowMs: () => number
  /** How often it is looked whether a tick is due. */
  readonly tickMs: number
  /** Called at most once, after an error that leaves the market's state in doubt; nothing of it may be written from then on. */
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
  /** The event loop, divided among the markets of the process. */
  readonly turns?: LoopTurns
  /** Called before each step and each other piece of the market's work that may end the process. */
  readonly onStep?: () => void
  /** Distinguishes this run from any other. */
  readonly leaderId?: string
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/** The same with every default. */
export type MatcherSettings = Required<MatcherOptions>

/** What stays of a feed when it is asked to be trimmed. */
export interface FeedKeeping {
  /** What was stored for less than this. */
  readonly keepMs: number
  /** So many of the newest changes. */
  readonly keepChanges: number
}

/** A settlement whose final outcome on the chain differs from the one that was reported before. */
export interface ReportedReversal {
  /** Rising, from 1. */
  readonly no: number
  readonly settlementId: string
  /** The final outcome. */
  readonly now: SettlementTruth
}

/** How often the executor is asked for reversals. They are final before it reports them, so haste gains nothing. */
export const REVERSALS_EVERY_MS = 5_000

/** A page of the executor's reversals above a number, in order; a text that says why when they could not be read. */
export type AskReversals = (
  after: number,
  signal: AbortSignal,
) => Promise<readonly ReportedReversal[] | string>

/** How often the executor is asked what keeps it from settling; half of the chain's block time. */
export const FAULTS_EVERY_MS = 1_000

/** The revert with which the chain refuses every match, by market; undefined when the executor cannot read it. */
export type AskFaults = (
  signal: AbortSignal,
) => Promise<Readonly<Record<string, string>> | undefined>

export interface CheckpointSettings {
  /** A checkpoint is due after so many commands, or when the last one is so old, whichever comes first. */
  readonly everyCommands: number
  readonly everyMs: number
  /** The command log is kept at least so long, by the bus's clock, and at least from the oldest checkpoint on. */
  readonly keepCommandsMs: number
}

export const CHECKPOINT_SETTINGS: CheckpointSettings = {
  everyCommands: 100_000,
  everyMs: 600_000,
  keepCommandsMs: 7 * 86_400_000,
}

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
    turns: createLoopTurns(),
    onStep: () => undefined,
    leaderId: randomUUID(),
    elapsedMs: () => performance.now(),
    ...given,
  }
}
