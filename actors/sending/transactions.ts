import type { GasFacts } from '../../chain/sender/gas.js'
import type { TransactionFees } from '../../chain/sender/key-nonces.js'
import { observeSender, type SenderObserver } from '../../chain/sender/observe-sender.js'
import {
  SenderFrozen,
  type Shortage,
  type TransactionSender,
} from '../../chain/sender/transaction-sender.js'
import { fingerprintOf } from '../../chain/signing/keys.js'
import type { Address, Hex } from '../../core/action.js'
import {
  SignerUnavailable,
  type MinedTransaction,
  type OpenTransaction,
  type RecordedIntent,
} from '../../core/transaction-journal.js'
import type { PublishedJournal } from '../../data/journal/published-journal.js'
import type { Logger } from '../../runtime/process/log.js'

/** A contract call, sent at most once under its id. */
export interface IntentCall {
  readonly intentId: string
  readonly to: Address
  readonly data: Hex
}

/** The bus does not take the journal, so that nothing that is signed could be broadcast. */
interface JournalUnpublished {
  readonly kind: 'unpublished'
  readonly why: string
}

/** A sender's transactions, one for each intent. */
export interface Transactions {
  readonly address: Address
  stateOf(intentId: string): RecordedIntent['state'] | undefined
  /** Hash of the mined transaction, else of the newest signed attempt that is on the bus; undefined without one. */
  hashOf(intentId: string): Hex | undefined
  /** Why a transaction that may cost `costWei` cannot be sent now. Ask right before `send`. */
  shortage(gas: GasFacts, costWei: bigint): Shortage | JournalUnpublished | undefined
  /**
   * Journals the call as a transaction, which is broadcast once the bus has the journal; at most once for one id. False,
   * with nothing recorded, when the sender is frozen or nothing can be signed.
   */
  send(call: IntentCall, fees: TransactionFees): boolean
  /**
   * Resolves with true once all that was recorded is on the bus: before that another process may come to send something
   * else at its nonce. False when the process stops before.
   */
  published(): Promise<boolean>
  /** Whether the newest signed form of an open transaction is on the bus. */
  isPublished(transaction: OpenTransaction): boolean
  /** Whether a node confirmed that it has the transaction. */
  wasTaken(intentId: string): boolean
  /** Resolves when it is mined, with undefined when the process stops before. */
  mined(intentId: string, askAgainMs: number): Promise<MinedTransaction | undefined>
  /** As `mined`, with undefined after `withinMs`. */
  minedWithin(intentId: string, withinMs: number): Promise<MinedTransaction | undefined>
  /** The intents whose transactions are open, or mined in a block that is not final. */
  unsettledIntents(): string[]
  /** Most that the key's open transactions may still cost, in wei. */
  readonly reservedWei: () => bigint
  /** The same of every key, also one that is retiring. */
  readonly inFlightWei: () => bigint
}

interface TransactionsDeps {
  readonly published: Pick<PublishedJournal, 'journal' | 'trouble'>
  readonly txSender: TransactionSender
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal
}

export function createTransactions({
  published: { journal, trouble },
  txSender,
  stopping,
}: TransactionsDeps): Transactions {
  const stopped = new Promise<false>((resolve) => {
    stopping.addEventListener('abort', () => resolve(false), { once: true })
  })
  const stateOf = (intentId: string) => journal.find(intentId)?.state
  const openCost = (sender: Address): bigint =>
    journal
      .unsettledTransactions(sender)
      .filter(({ mined }) => mined === undefined)
      .reduce((sum, { transaction }) => sum + highestCost(transaction), 0n)
  return {
    address: txSender.address,
    stateOf,
    hashOf(intentId) {
      const state = stateOf(intentId)
      if (state?.kind === 'mined') return state.transaction.hash
      if (state?.kind !== 'open') return undefined
      return state.transaction.attempts.findLast(({ hash }) => journal.isDurable(hash))?.hash
    },
    shortage(gas, costWei) {
      const why = trouble()
      return why === undefined ? txSender.shortage(gas, costWei) : { kind: 'unpublished', why }
    },
    send({ intentId, to, data }, fees) {
      const intents = [{ intentId, fingerprint: fingerprintOf(to, data) }]
      try {
        txSender.take({ intents, to, data, fees })
        return true
      } catch (error) {
        if (error instanceof SenderFrozen || error instanceof SignerUnavailable) return false
        throw error
      }
    },
    published: () => Promise.race([journal.durable().then(() => true), stopped]),
    isPublished: ({ attempts }) => {
      const newest = attempts.at(-1)
      return newest !== undefined && journal.isDurable(newest.hash)
    },
    wasTaken: (intentId) => txSender.wasTaken(intentId),
    minedWithin: (intentId, withinMs) => txSender.waitFor(intentId, withinMs),
    async mined(intentId, askAgainMs) {
      while (!stopping.aborted) {
        const mined = await txSender.waitFor(intentId, askAgainMs)
        if (mined !== undefined) return mined
      }
      return undefined
    },
    unsettledIntents: () => journal.unsettledIntents(),
    reservedWei: () => openCost(txSender.address),
    inFlightWei: () =>
      journal.unsettledSenders().reduce((sum, sender) => sum + openCost(sender), 0n),
  }
}

/** All attempts have the same nonce, so at most the most expensive one is paid. */
function highestCost({ attempts }: OpenTransaction): bigint {
  const costs = attempts.map(({ gasLimit, maxFeePerGas }) => gasLimit * maxFeePerGas)
  return costs.reduce((highest, cost) => (cost > highest ? cost : highest), 0n)
}

/** What the sender reports of intents. */
interface TransactionEvents {
  readonly changed: (intentId: string) => void
  /** No node has confirmed that it has the transaction. */
  readonly unclear: (intentId: string) => void
}

/** Logs the sender's facts and reports those that concern an intent. */
export function observeTransactions(
  log: Logger,
  { changed, unclear }: TransactionEvents,
): SenderObserver {
  const logged = observeSender(log, 'intent')
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
