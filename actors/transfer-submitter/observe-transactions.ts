import { observeLane, type LaneFacts } from '../../chain/lane/observe-lane.js'
import type { Logger } from '../../runtime/process/log.js'

/** What the lane reports of intents. */
export interface TransactionEvents {
  readonly changed: (intentId: string) => void
  /** No node has confirmed that it has the transaction. */
  readonly unclear: (intentId: string) => void
}

/** Logs the lane's facts and reports those that concern an intent. */
export function observeTransactions(
  log: Logger,
  { changed, unclear }: TransactionEvents,
): LaneFacts {
  const logged = observeLane(log, 'intent')
  return {
    ...logged,
    broadcast: (transaction) => {
      logged.broadcast(transaction)
      transaction.intentIds.forEach(changed)
    },
    broadcastUnclear: (transaction, cause) => {
      logged.broadcastUnclear(transaction, cause)
      transaction.intentIds.forEach(unclear)
    },
    mined: (transaction, intents) => {
      logged.mined(transaction, intents)
      for (const { intentId } of intents) changed(intentId)
    },
    replaced: (transaction, attempt) => {
      logged.replaced(transaction, attempt)
      transaction.intentIds.forEach(changed)
    },
    displaced: (transaction, by) => {
      logged.displaced(transaction, by)
      transaction.intentIds.forEach(changed)
    },
    reversed: (reversal) => {
      logged.reversed(reversal)
      changed(reversal.intentId)
    },
  }
}
