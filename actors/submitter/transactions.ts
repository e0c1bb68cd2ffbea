import { fingerprintOf } from '../../chain/fingerprint.js'
import type { TransactionFees } from '../../chain/nonce-lane.js'
import type { GasFacts } from '../../chain/read-gas.js'
import { LaneFrozen } from '../../chain/transaction-lane.js'
import type { Shortage, TransactionLane } from '../../chain/transaction-lane.js'
import type {
  MinedTransaction,
  OpenTransaction,
  RecordedIntent,
  TransactionJournal,
} from '../../chain/transaction-journal.js'
import type { Address, Hex } from '../../core/action.js'
import type { TransferKind } from '../../core/transfer.js'

/** A call that is made once under its id. */
export interface Call {
  readonly intentId: string
  readonly to: Address
  readonly data: Hex
}

/** The submitter's transactions, one for each intent. */
export interface Transactions {
  readonly address: Address
  stateOf(intentId: string): RecordedIntent['state'] | undefined
  /** Hash of what was mined, else of the newest signed form; undefined when nothing was signed. */
  hashOf(intentId: string): Hex | undefined
  /** Why a transaction that may cost so many wei is not to be sent now. To be asked right before `send`. */
  shortage(gas: GasFacts, costWei: bigint): Shortage | undefined
  /**
   * Journals the call as a transaction and broadcasts it; never twice for one id. False, with nothing recorded, when
   * no transaction may be signed any more.
   */
  send(call: Call, fees: TransactionFees): boolean
  /** Whether a node said that it has it. */
  wasTaken(intentId: string): boolean
  /** What became of it once it is mined, however long that takes; undefined when the process stops before. */
  mined(intentId: string, askAgainMs: number): Promise<MinedTransaction | undefined>
  /** The same within a time. */
  minedWithin(intentId: string, withinMs: number): Promise<MinedTransaction | undefined>
  /** The intents whose transactions are open, or mined in a block that the chain may yet lose. */
  unsettledIntents(): string[]
  /** What the open transactions may still cost, in wei. */
  readonly reservedWei: () => bigint
}

/** The journal's id of the transaction that carries a transfer out. */
export const intentOf = (kind: TransferKind, actionHash: Hex): string => `${kind}:${actionHash}`

/** The transfer of which an intent id speaks; undefined when it is a preparation. */
export function actionHashOf(kind: TransferKind, intentId: string): Hex | undefined {
  const prefix = `${kind}:`
  return intentId.startsWith(prefix) ? (intentId.slice(prefix.length) as Hex) : undefined
}

export interface TransactionsDeps {
  readonly journal: TransactionJournal
  readonly lane: TransactionLane
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal
}

export function createTransactions({ journal, lane, stopping }: TransactionsDeps): Transactions {
  const stateOf = (intentId: string) => journal.find(intentId)?.state
  const unsettled = () => journal.unsettledTransactions(lane.address)
  return {
    address: lane.address,
    stateOf,
    hashOf(intentId) {
      const state = stateOf(intentId)
      if (state?.kind === 'mined') return state.transaction.hash
      return state?.kind === 'open' ? state.transaction.attempts.at(-1)?.hash : undefined
    },
    shortage: (gas, costWei) => lane.shortage(gas, costWei),
    send({ intentId, to, data }, fees) {
      const intents = [{ intentId, fingerprint: fingerprintOf(to, data) }]
      try {
        lane.take({ intents, to, data, fees })
        return true
      } catch (error) {
        if (error instanceof LaneFrozen) return false
        throw error
      }
    },
    wasTaken: (intentId) => lane.wasTaken(intentId),
    minedWithin: (intentId, withinMs) => lane.waitFor(intentId, withinMs),
    async mined(intentId, askAgainMs) {
      while (!stopping.aborted) {
        const mined = await lane.waitFor(intentId, askAgainMs)
        if (mined !== undefined) return mined
      }
      return undefined
    },
    unsettledIntents: () => unsettled().flatMap(({ transaction }) => transaction.intentIds),
    reservedWei: () =>
      unsettled()
        .filter(({ mined }) => mined === undefined)
        .reduce((sum, { transaction }) => sum + highestCost(transaction), 0n),
  }
}

/** Every attempt has the same nonce, so only the dearest can be paid. */
function highestCost({ attempts }: OpenTransaction): bigint {
  const costs = attempts.map(({ gasLimit, maxFeePerGas }) => gasLimit * maxFeePerGas)
  return costs.reduce((highest, cost) => (cost > highest ? cost : highest), 0n)
}
