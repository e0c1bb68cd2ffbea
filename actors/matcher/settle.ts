import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import type { SettlementOutcome } from '../../core/model/command.js'
import type { Match } from '../../core/model/match.js'
import type { ExecuteRequest } from '../../interface/execute.js'
import { SETTLEMENTS_MAX_IN_FLIGHT, type AskExecutor, type ExecutorAnswer } from './ask-executor.js'

/** The executor has another call under a settlement's key: its journal and this market's log do not belong together. */
export class SettlementConflict extends Error {
  override readonly name = 'SettlementConflict'
}

/** Stands where a revert would: the executor has refused the payload, and nothing was sent. */
export const EXECUTOR_REFUSED = 'executor_refused'

const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 5_000
const LATE_LOOK_MS = 1_000

export interface SettlerOptions {
  readonly ask: AskExecutor
  /** Undefined once the log holds an outcome, which an earlier leader may have reported late. */
  readonly payloadOf: (match: Match) => ExecuteRequest | undefined
  /** Puts the outcome into the market's log. */
  readonly report: (settlementId: string, outcome: SettlementOutcome) => Promise<void>
  /** Puts into the log that a signer is code. */
  readonly noteCode: (signer: Address) => Promise<void>
  readonly facts: {
    readonly settlementAsked: (settlementId: string) => void
    readonly settlementUnknown: (settlementId: string, why: string) => void
    readonly settlementRefused: (settlementId: string, why: string) => void
    /** Has had no outcome for too long; called once for each. */
    readonly settlementLate: (settlementId: string, ageMs: number) => void
    /** One has its outcome, so long after its match. */
    readonly settled: (settlementId: string, ageMs: number) => void
    /** One that was reported as late has its outcome. */
    readonly lateSettled: (settlementId: string, ageMs: number) => void
  }
  readonly unanswered: UnansweredSettlements
  readonly onFatal: (error: unknown) => void
}

/** Carries proposed matches to the executor until each has an outcome. */
export interface Settler {
  /** Takes a match whose block is durable; never waits. Bounded by the market's pending matches. */
  add(match: Match): void
  stop(): Promise<void>
}

/**
 * A match is asked about with the same key until the answer is success or reverted: a time-out is not an answer, and the
 * executor answers a repeated key from its journal. A new match never waits for an older one's receipt.
 */
export function createSettler(options: SettlerOptions): Settler {
  const queue: Match[] = []
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  // Each settlement in flight may listen to it.
  setMaxListeners(SETTLEMENTS_MAX_IN_FLIGHT, stopping.signal)

  const pump = (): void => {
    while (running.size < SETTLEMENTS_MAX_IN_FLIGHT && !stopping.signal.aborted) {
      const match = queue.shift()
      if (match === undefined) return
      const task = settleOne(options, match, stopping.signal)
        .then(() => reportSettled(options, match))
        .catch((error: unknown) => {
          if (!stopping.signal.aborted) options.onFatal(error)
        })
        .finally(() => {
          running.delete(task)
          pump()
        })
      running.add(task)
    }
  }
  const watch = setInterval(() => reportLate(options), LATE_LOOK_MS)
  return {
    add: (match) => {
      options.unanswered.asked(match.settlementId)
      queue.push(match)
      pump()
    },
    stop: async () => {
      clearInterval(watch)
      stopping.abort()
      await Promise.all(running)
    },
  }
}

function reportLate({ unanswered, facts }: SettlerOptions): void {
  for (const { settlementId, ageMs } of unanswered.takeLate()) {
    facts.settlementLate(settlementId, ageMs)
  }
}

function reportSettled({ unanswered, facts }: SettlerOptions, { settlementId }: Match): void {
  const { wasLate, ageMs } = unanswered.answered(settlementId)
  facts.settled(settlementId, ageMs)
  if (wasLate) facts.lateSettled(settlementId, ageMs)
}

type DecidedOutcome = Extract<ExecutorAnswer, { kind: 'success' | 'reverted' }>

/** What a failure has shown of its signers stands in the log before the failure, which is judged by it. */
async function reportAnswer(
  { report, noteCode }: SettlerOptions,
  settlementId: string,
  answer: DecidedOutcome,
): Promise<void> {
  if (answer.kind === 'success') return report(settlementId, answer)
  const { codeSigners, ...failed } = answer
  const outcome = codeSigners === undefined ? failed : { ...failed, signersRead: true as const }
  await Promise.all([...(codeSigners ?? []).map(noteCode), report(settlementId, outcome)])
}

async function settleOne(
  options: SettlerOptions,
  match: Match,
  signal: AbortSignal,
): Promise<void> {
  const { settlementId } = match
  for (
    let pauseMs = RETRY_FIRST_MS;
    !signal.aborted;
    pauseMs = Math.min(2 * pauseMs, RETRY_MAX_MS)
  ) {
    const payload = options.payloadOf(match)
    if (payload === undefined) return
    options.facts.settlementAsked(settlementId)
    const answer = await options.ask(settlementId, payload, signal)
    if (answer.kind === 'success' || answer.kind === 'reverted') {
      crash('matcher.after_result_before_report')
      const reporting = reportAnswer(options, settlementId, answer)
      crash('matcher.after_report_before_ack')
      await reporting
      return
    }
    if (answer.kind === 'malformed') {
      options.facts.settlementRefused(settlementId, answer.why)
      const { guilty } = answer
      await options.report(settlementId, { kind: 'reverted', revert: EXECUTOR_REFUSED, guilty })
      return
    }
    if (answer.kind === 'conflict') {
      throw new SettlementConflict(`executor has another call as ${settlementId}: ${answer.why}`)
    }
    options.facts.settlementUnknown(settlementId, answer.why)
    await delay(pauseMs, undefined, { signal })
  }
}

/** How long a settlement may be without an outcome until it is reported as late. */
export const LATE_AFTER_MS = 60_000

/** The market's settlements without an outcome. */
export interface UnansweredStanding {
  readonly pending: number
  /** Age of the oldest, 0 without any. */
  readonly oldestMs: number
  /** How many have been reported as late. */
  readonly late: number
}

/**
 * Since when this process has waited for the outcome of each settlement. Bounded by the market's pending matches. No
 * call costs more than the settlements that it returns.
 */
export interface UnansweredSettlements {
  asked(settlementId: string): void
  answered(settlementId: string): { readonly wasLate: boolean; readonly ageMs: number }
  /** Those that have become late since the last call. */
  takeLate(): { readonly settlementId: string; readonly ageMs: number }[]
  standing(): UnansweredStanding
}

export interface UnansweredOptions {
  readonly lateAfterMs: number
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number
}

export function createUnanswered({
  lateAfterMs,
  elapsedMs,
}: UnansweredOptions): UnansweredSettlements {
  /** Both in the order in which they were asked, so that the oldest comes first. */
  const young = new Map<string, number>()
  const late = new Map<string, number>()
  const age = (sinceMs: number | undefined): number =>
    sinceMs === undefined ? 0 : Math.round(elapsedMs() - sinceMs)
  const oldest = (): number | undefined => {
    const [first] = late.size > 0 ? late.values() : young.values()
    return first
  }
  return {
    asked: (settlementId) => void young.set(settlementId, elapsedMs()),
    answered(settlementId) {
      const ageMs = age(young.get(settlementId) ?? late.get(settlementId))
      young.delete(settlementId)
      return { wasLate: late.delete(settlementId), ageMs }
    },
    takeLate() {
      const found: { settlementId: string; ageMs: number }[] = []
      for (const [settlementId, sinceMs] of young) {
        const ageMs = age(sinceMs)
        if (ageMs < lateAfterMs) break
        found.push({ settlementId, ageMs })
        young.delete(settlementId)
        late.set(settlementId, sinceMs)
      }
      return found
    },
    standing: () => ({
      pending: young.size + late.size,
      oldestMs: age(oldest()),
      late: late.size,
    }),
  }
}
