import type { TransactionLane } from '../chain/transaction-lane.js'
import type {
  MinedTransaction,
  Reversal,
  TransactionJournal,
} from '../chain/transaction-journal.js'
import { assert } from '../core/assert.js'
import type { Hex } from '../core/action.js'
import type { Executions } from './execute.js'
import { findLife, settlementOf } from './lives.js'
import type { Life } from './lives.js'

/** The revert's name of a settlement that no transaction carries out, and none ever will. */
export const NOT_CARRIED_OUT = 'not_carried_out'

/** What became of a settlement, for good. */
export type FinalOutcome =
  | { readonly status: 'success'; readonly txHash: Hex; readonly blockNumber: bigint }
  | {
      readonly status: 'reverted'
      readonly revert: string
      /** Absent when no transaction carried it out. */
      readonly txHash?: Hex
      readonly blockNumber?: bigint
    }

/** An outcome that may have been told, and what is true of the settlement instead. */
export interface SettlementReversal {
  /** From 1, rising. */
  readonly no: number
  readonly settlementId: string
  readonly before: MinedTransaction
  /** May be what it was before, when the chain changed its mind twice. */
  readonly now: FinalOutcome
}

/**
 * Reversals above a number, in order, at most so many. The list ends before the first settlement whose outcome the chain
 * may still change, so that each is told once and for good. A settlement that no transaction carried out is closed with
 * that: asked for again it is refused.
 */
export type ReadReversals = (after: number, limit: number) => SettlementReversal[]

export interface ReversalDeps {
  readonly journal: TransactionJournal
  readonly lane: Pick<TransactionLane, 'address'>
  readonly isRunning: Executions['isRunning']
}

export function createReadReversals({ journal, lane, isRunning }: ReversalDeps): ReadReversals {
  return (after, limit) => {
    const told: SettlementReversal[] = []
    const reversals = journal.reversalsAfter(after, limit)
    if (reversals.length === 0) return told
    const unsettled = unsettledIntents(journal, lane)
    for (const reversal of reversals) {
      const settlementId = settlementOf(reversal.intentId)
      if (isRunning(settlementId)) break
      const life = findLife(journal, lane.address, settlementId)
      const now = outcomeOf(journal, { life, reversal, unsettled })
      if (now === undefined) break
      told.push({ no: reversal.no, settlementId, before: reversal.before, now })
    }
    return told
  }
}

const unsettledIntents = (
  journal: TransactionJournal,
  { address }: ReversalDeps['lane'],
): ReadonlySet<string> =>
  new Set(
    journal.unsettledTransactions(address).flatMap(({ transaction }) => transaction.intentIds),
  )

interface Judged {
  readonly life: Life
  readonly reversal: Reversal
  readonly unsettled: ReadonlySet<string>
}

/** Undefined while the chain may still change it. */
function outcomeOf(
  journal: TransactionJournal,
  { life, reversal, unsettled }: Judged,
): FinalOutcome | undefined {
  const { intentId, recorded } = life
  const state = recorded?.state ?? { kind: 'displaced' }
  switch (state.kind) {
    case 'open':
      return undefined
    case 'refused':
      return { status: 'reverted', revert: state.revert }
    case 'displaced': {
      // A life that has not begun is the same call as the one before it.
      const fingerprint = (recorded ?? journal.find(reversal.intentId))?.fingerprint
      assert(fingerprint !== undefined, `${reversal.intentId} was turned round and is not recorded`)
      journal.recordRefusal(intentId, fingerprint, NOT_CARRIED_OUT)
      return { status: 'reverted', revert: NOT_CARRIED_OUT }
    }
    case 'mined':
      return life.isOver && !unsettled.has(intentId) ? finalOutcome(state.transaction) : undefined
  }
}

function finalOutcome({ status, hash, blockNumber, revert }: MinedTransaction): FinalOutcome {
  const place = { txHash: hash, blockNumber }
  if (status === 'success') return { status, ...place }
  return { status, revert: revert ?? 'unknown', ...place }
}
