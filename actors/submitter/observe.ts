import type { Logger } from '../../bus-schemas/log.js'
import type { LaneFacts } from '../../chain/lane-facts.js'
import { observeLane } from '../../chain/observe-lane.js'
import type { TransferKind, TransferRecord } from '../../core/transfer.js'

/** What happens to a submitter's transactions, by intent. */
export interface TransactionEvents {
  readonly changed: (intentId: string) => void
  /** No node has said that it has the transaction. */
  readonly unclear: (intentId: string) => void
}

/** What a submitter tells its operator, one line for each thing worth knowing; never signatures or signed bytes. */
export interface SubmitterFacts {
  readonly lane: LaneFacts
  readonly stepped: (record: TransferRecord) => void
  readonly publishingTrouble: (cause: unknown) => void
}

export function observeSubmitter(
  log: Logger,
  kind: TransferKind,
  { changed, unclear }: TransactionEvents,
): SubmitterFacts {
  const told = observeLane(log, 'intent')
  const lane: LaneFacts = {
    ...told,
    broadcast: (transaction) => {
      told.broadcast(transaction)
      transaction.intentIds.forEach(changed)
    },
    broadcastUnclear: (transaction, cause) => {
      told.broadcastUnclear(transaction, cause)
      transaction.intentIds.forEach(unclear)
    },
    mined: (transaction, intents) => {
      told.mined(transaction, intents)
      for (const { intentId } of intents) changed(intentId)
    },
    replaced: (transaction, attempt) => {
      told.replaced(transaction, attempt)
      transaction.intentIds.forEach(changed)
    },
    displaced: (transaction, by) => {
      told.displaced(transaction, by)
      transaction.intentIds.forEach(changed)
    },
    reversed: (reversal) => {
      told.reversed(reversal)
      changed(reversal.intentId)
    },
  }
  return {
    lane,
    stepped: ({ actionHash, owner, status, txHash, revert, error }) =>
      log.info({ action_hash: actionHash, owner, status, tx_hash: txHash, revert, error }, kind),
    publishingTrouble: (cause) => log.warn({ err: cause }, 'step not published, trying again'),
  }
}
