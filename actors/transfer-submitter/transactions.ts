import { setTimeout as delay } from 'node:timers/promises'
import type { GasFacts, GasReader } from '../../chain/lane/gas.js'
import type { TransactionFees } from '../../chain/lane/nonce-lane.js'
import { observeLane, type LaneFacts } from '../../chain/lane/observe-lane.js'
import {
  LaneFrozen,
  type Shortage,
  type TransactionLane,
} from '../../chain/lane/transaction-lane.js'
import { undefinedOnFailure } from '../../chain/reads/read-failure.js'
import { fingerprintOf } from '../../chain/signing/keys.js'
import type { Address, Hex } from '../../core/action.js'
import {
  SignerUnavailable,
  type MinedTransaction,
  type OpenTransaction,
  type RecordedIntent,
} from '../../core/transaction-journal.js'
import type { GasPause, GasStanding } from '../../core/transfer.js'
import type { PublishedJournal } from '../../data/journal/published-journal.js'
import type { GasSpent } from '../../data/gas-spent.js'
import type { Logger } from '../../runtime/process/log.js'

/** A contract call, sent at most once under its id. */
export interface Call {
  readonly intentId: string
  readonly to: Address
  readonly data: Hex
}

/** The bus does not take the journal, so that nothing that is signed could be broadcast. */
interface Unpublished {
  readonly kind: 'unpublished'
  readonly why: string
}

/** The submitter's transactions, one for each intent. */
export interface Transactions {
  readonly address: Address
  stateOf(intentId: string): RecordedIntent['state'] | undefined
  /** Hash of the mined transaction, else of the newest signed attempt that is on the bus; undefined without one. */
  hashOf(intentId: string): Hex | undefined
  /** Why a transaction that may cost `costWei` cannot be sent now. Ask right before `send`. */
  shortage(gas: GasFacts, costWei: bigint): Shortage | Unpublished | undefined
  /**
   * Journals the call as a transaction, which is broadcast once the bus has the journal; at most once for one id. False,
   * with nothing recorded, when the lane is frozen or nothing can be signed.
   */
  send(call: Call, fees: TransactionFees): boolean
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
  readonly lane: TransactionLane
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal
}

export function createTransactions({
  published: { journal, trouble },
  lane,
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
    address: lane.address,
    stateOf,
    hashOf(intentId) {
      const state = stateOf(intentId)
      if (state?.kind === 'mined') return state.transaction.hash
      if (state?.kind !== 'open') return undefined
      return state.transaction.attempts.findLast(({ hash }) => journal.isDurable(hash))?.hash
    },
    shortage(gas, costWei) {
      const why = trouble()
      return why === undefined ? lane.shortage(gas, costWei) : { kind: 'unpublished', why }
    },
    send({ intentId, to, data }, fees) {
      const intents = [{ intentId, fingerprint: fingerprintOf(to, data) }]
      try {
        lane.take({ intents, to, data, fees })
        return true
      } catch (error) {
        if (error instanceof LaneFrozen || error instanceof SignerUnavailable) return false
        throw error
      }
    },
    published: () => Promise.race([journal.durable().then(() => true), stopped]),
    isPublished: ({ attempts }) => {
      const newest = attempts.at(-1)
      return newest !== undefined && journal.isDurable(newest.hash)
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
    unsettledIntents: () => journal.unsettledIntents(),
    reservedWei: () => openCost(lane.address),
    inFlightWei: () =>
      journal.unsettledSenders().reduce((sum, sender) => sum + openCost(sender), 0n),
  }
}

/** All attempts have the same nonce, so at most the most expensive one is paid. */
function highestCost({ attempts }: OpenTransaction): bigint {
  const costs = attempts.map(({ gasLimit, maxFeePerGas }) => gasLimit * maxFeePerGas)
  return costs.reduce((highest, cost) => (cost > highest ? cost : highest), 0n)
}

/** The promise's value, or undefined after `withinMs`. */
export async function within<T>(withinMs: number, promise: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  const late = delay(withinMs, undefined, { signal: timer.signal }).catch(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    timer.abort()
  }
}

interface GasDeps {
  readonly address: Address
  readonly readGas: GasReader
  readonly spent: GasSpent
  /** Most that the wallet's open transactions may still cost, in wei. */
  readonly reservedWei: () => bigint
  /** The same of every key of this hour. */
  readonly inFlightWei: () => bigint
  /** Nothing is submitted that could take the wallet's balance below this. */
  readonly reserveWei: bigint
  /** Most gas of one hour, paid or in flight. */
  readonly hourBudgetWei: bigint
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** The wallet that pays for transfers, with its reserve and its hourly budget. */
export interface GasWallet {
  /** Current gas prices and the balance; rejects with ChainUnreachable. */
  readonly read: GasReader
  /**
   * Why a transaction that may cost `costWei` cannot be paid now, where it has to leave `keptWei` of the hour's budget, by
   * default nothing. Ask again right before it is signed.
   */
  pauseFor(costWei: bigint, facts: GasFacts, keptWei?: bigint): GasPause | undefined
  /** Books the cost of a mined transaction. */
  readonly paid: (txHash: string, costWei: bigint) => void
  /** Never rejects; without an answer of the chain within BALANCE_WAIT_MS the balance is absent. */
  readonly standing: () => Promise<GasStanding>
}

const BALANCE_WAIT_MS = 500

export function createGasWallet(deps: GasDeps): GasWallet {
  const { address, readGas, spent, reservedWei, inFlightWei } = deps
  const { reserveWei, hourBudgetWei, nowMs } = deps
  /** Transactions in flight count with their highest cost. */
  const hourSpentWei = (): bigint => spent.withinHour(nowMs()) + inFlightWei()

  function pauseFor(costWei: bigint, { balance }: GasFacts, keptWei = 0n): GasPause | undefined {
    if (balance - reservedWei() - costWei < reserveWei) return 'gas_reserve'
    return hourSpentWei() + costWei + keptWei > hourBudgetWei ? 'gas_budget' : undefined
  }

  return {
    read: readGas,
    pauseFor,
    paid: (txHash, costWei) => spent.record(txHash, costWei, nowMs()),
    async standing() {
      const balance = readGas().catch(undefinedOnFailure)
      const facts = await within(BALANCE_WAIT_MS, balance)
      const paused = facts === undefined ? undefined : pauseFor(1n, facts)
      return {
        ...{ signer: address, reserveWei, hourBudgetWei, hourSpentWei: hourSpentWei() },
        ...(facts !== undefined && { balanceWei: facts.balance }),
        ...(paused !== undefined && { paused }),
      }
    },
  }
}

/** What the lane reports of intents. */
interface TransactionEvents {
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
