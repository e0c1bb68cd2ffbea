import { NOT_TRIED } from '../chain/revert-name.js'
import type {
  MinedTransaction,
  RecordedIntent,
  TransactionJournal,
} from '../chain/transaction-journal.js'
import type { Address } from '../core/action.js'

/**
 * A settlement's hold on one nonce. A batch may be mined without having tried it; then, and only once the chain cannot
 * lose that batch any more, it gets another life, which is an intent of its own in the journal.
 */
export interface Life {
  readonly intentId: string
  readonly recorded: RecordedIntent | undefined
  /** What is recorded is the settlement's outcome, if it has one. */
  readonly isOver: boolean
}

/** A settlement that no batch tries is given up in the end. */
export const MAX_LIVES = 5

/** Whether the transaction was mined without having tried the match. */
export const isUntried = ({ status, revert }: MinedTransaction): boolean =>
  status === 'reverted' && revert === NOT_TRIED

/** The settlement's newest life; one that is not recorded may begin. */
export function findLife(journal: TransactionJournal, from: Address, id: string): Life {
  for (let no = 1; ; no += 1) {
    const intentId = lifeId(id, no)
    const recorded = journal.find(intentId)
    if (recorded === undefined) return { intentId, recorded, isOver: false }
    const { state } = recorded
    const wasTried = state.kind !== 'mined' || !isUntried(state.transaction)
    if (wasTried || no === MAX_LIVES) return { intentId, recorded, isOver: true }
    if (!isFinal(journal, from, intentId)) return { intentId, recorded, isOver: false }
  }
}

/** No key of a caller has a blank in it. */
function lifeId(id: string, no: number): string {
  return no === 1 ? id : `${id} life ${no}`
}

/** The settlement that an intent of the journal is a life of. */
export const settlementOf = (intentId: string): string => intentId.replace(/ life \d+$/, '')

function isFinal(journal: TransactionJournal, from: Address, intentId: string): boolean {
  const unsettled = journal.unsettledTransactions(from)
  return !unsettled.some(({ transaction }) => transaction.intentIds.includes(intentId))
}
