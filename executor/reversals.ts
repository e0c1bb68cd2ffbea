import type { MinedTransaction, Reversal, TransactionJournal } from '../core/transaction-journal.js'
import type { Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { NOT_CARRIED_OUT, UNKNOWN_REVERT } from '../core/revert.js'
import { findAttempt, settlementOf, type Executions, type SettlementAttempt } from './execute.js'

/** The final outcome of a settlement. */
export type FinalOutcome =
  | { readonly status: 'success'; readonly txHash: Hex; readonly blockNumber: bigint }
  | {
      readonly status: 'reverted'
      readonly revert: string
      /** Absent when no transaction carried it out. */
      readonly txHash?: Hex
      readonly blockNumber?: bigint
    }

/** An outcome that may have been reported, and the final one that replaces it. */
export interface OutcomeReversal {
  /** Counts from 1. */
  readonly no: number
  readonly settlementId: string
  readonly before: MinedTransaction
  /** Equal to `before` after a second reorganisation that undid the first. */
  readonly now: FinalOutcome
}

/**
 * At most `limit` reversals with a number above `after`, in order. The list ends before the first settlement whose
 * outcome is not final, so that each reversal is reported once. A settlement that no transaction carried out is closed
 * here: a later request for it is refused.
 */
export type ReadReversals = (after: number, limit: number) => OutcomeReversal[]

export interface ReversalDeps {
  readonly journal: TransactionJournal
  readonly isRunning: Executions['isRunning']
}

export function createReadReversals({ journal, isRunning }: ReversalDeps): ReadReversals {
  return (after, limit) => {
    const told: OutcomeReversal[] = []
    const reversals = journal.reversalsAfter(after, limit)
    if (reversals.length === 0) return told
    const unsettled = new Set(journal.unsettledIntents())
    for (const reversal of reversals) {
      const settlementId = settlementOf(reversal.intentId)
      if (isRunning(settlementId)) break
      const attempt = findAttempt(journal, settlementId)
      const now = outcomeOf(journal, { attempt, reversal, unsettled })
      if (now === undefined) break
      told.push({ no: reversal.no, settlementId, before: reversal.before, now })
    }
    return told
  }
}

interface JudgedReversal {
  readonly attempt: SettlementAttempt
  readonly reversal: Reversal
  readonly unsettled: ReadonlySet<string>
}

/** Undefined while the outcome is not final. */
function outcomeOf(
  journal: TransactionJournal,
  { attempt, reversal, unsettled }: JudgedReversal,
): FinalOutcome | undefined {
  const { intentId, recorded } = attempt
  const state = recorded?.state ?? { kind: 'displaced' }
  switch (state.kind) {
    case 'open':
      return undefined
    case 'refused':
      return { status: 'reverted', revert: state.revert }
    case 'displaced': {
      // An attempt that has not begun has the fingerprint of the one before it.
      const fingerprint = (recorded ?? journal.find(reversal.intentId))?.fingerprint
      assert(fingerprint !== undefined, `${reversal.intentId} was reversed and is not recorded`)
      journal.recordRefusal(intentId, fingerprint, NOT_CARRIED_OUT)
      return { status: 'reverted', revert: NOT_CARRIED_OUT }
    }
    case 'mined':
      return attempt.isLast && !unsettled.has(intentId)
        ? finalOutcome(state.transaction)
        : undefined
  }
}

function finalOutcome({ status, hash, blockNumber, revert }: MinedTransaction): FinalOutcome {
  const place = { txHash: hash, blockNumber }
  if (status === 'success') return { status, ...place }
  return { status, revert: revert ?? UNKNOWN_REVERT, ...place }
}
