import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Match } from '../../core/change.js'
import type { SettlementOutcome } from '../../core/command.js'
import { crash } from '../../core/crash-point.js'
import { SETTLEMENTS_MAX_IN_FLIGHT } from './ask-executor.js'
import type { AskExecutor } from './ask-executor.js'
import type { ExecutePayload } from './execute-payload.js'
import type { Unanswered } from './unanswered.js'

/** The executor has another call under a settlement's key, so its journal and this market's log are of two histories. */
export class SettlementConflict extends Error {
  override readonly name = 'SettlementConflict'
}

const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 5_000
const LATE_LOOK_MS = 1_000

export interface SettlerOptions {
  readonly ask: AskExecutor
  /** Undefined once the log holds an outcome, which a report of an earlier life may bring late. */
  readonly payloadOf: (match: Match) => ExecutePayload | undefined
  /** Puts the outcome into the market's log. */
  readonly report: (settlementId: string, outcome: SettlementOutcome) => Promise<void>
  readonly facts: {
    readonly settlementAsked: (settlementId: string) => void
    readonly settlementUnknown: (settlementId: string, why: string) => void
    readonly settlementRefused: (settlementId: string, why: string) => void
    /** Has had no outcome for longer than it should; told once. */
    readonly settlementLate: (settlementId: string, ageMs: number) => void
    /** One that was told to be late has its outcome. */
    readonly lateSettled: (settlementId: string, ageMs: number) => void
  }
  readonly unanswered: Unanswered
  readonly onFatal: (error: unknown) => void
}

/** Carries proposed matches to the executor until each has an outcome. */
export interface Settler {
  /** Takes a match whose block is durable; never waits. Bounded by the market's pending matches. */
  add(match: Match): void
  stop(): Promise<void>
}

/**
 * A match is asked about with the same key until the answer is success or reverted: a time-out is no answer, and the
 * executor answers a repeated key from its journal. A new match never waits for an older one's receipt.
 */
export function createSettler(options: SettlerOptions): Settler {
  const queue: Match[] = []
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  // Each settlement under way may wait on it.
  setMaxListeners(SETTLEMENTS_MAX_IN_FLIGHT, stopping.signal)

  const pump = (): void => {
    while (running.size < SETTLEMENTS_MAX_IN_FLIGHT && !stopping.signal.aborted) {
      const match = queue.shift()
      if (match === undefined) return
      const task = settleOne(options, match, stopping.signal)
        .then(() => tellSettled(options, match))
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
  const watch = setInterval(() => tellLate(options), LATE_LOOK_MS)
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

function tellLate({ unanswered, facts }: SettlerOptions): void {
  for (const { settlementId, ageMs } of unanswered.takeLate()) {
    facts.settlementLate(settlementId, ageMs)
  }
}

function tellSettled({ unanswered, facts }: SettlerOptions, { settlementId }: Match): void {
  const { wasLate, ageMs } = unanswered.answered(settlementId)
  if (wasLate) facts.lateSettled(settlementId, ageMs)
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
      const reporting = options.report(settlementId, answer)
      crash('matcher.after_report_before_ack')
      await reporting
      return
    }
    if (answer.kind === 'malformed') {
      options.facts.settlementRefused(settlementId, answer.why)
      const revert = 'executor_refused'
      await options.report(settlementId, { kind: 'reverted', revert, guilty: 'both' })
      return
    }
    if (answer.kind === 'conflict') {
      throw new SettlementConflict(`executor has another call as ${settlementId}: ${answer.why}`)
    }
    options.facts.settlementUnknown(settlementId, answer.why)
    await delay(pauseMs, undefined, { signal })
  }
}
