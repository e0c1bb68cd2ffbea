import type { Address } from '../core/action.js'
import { crash } from '../core/crash-point.js'
import { createChainClient } from './client.js'
import { countMined } from './count-mined.js'
import type { Frozen, LaneFacts } from './lane-facts.js'
import type { OutcomesOf } from './mining-outcomes.js'
import { openNonceLane } from './nonce-lane.js'
import type { IntendedCall } from './nonce-lane.js'
import { createGasReader } from './read-gas.js'
import type { GasFacts, GasReader } from './read-gas.js'
import type { TransactionSigner } from './sign-transaction.js'
import { createTransactionTracker } from './track-transactions.js'
import type {
  MinedTransaction,
  OpenTransaction,
  TransactionJournal,
} from './transaction-journal.js'
import { untilAnswering } from './until-answering.js'

export interface LaneOptions {
  readonly signer: TransactionSigner
  /** Of this process alone: whoever opens the lane holds the lock of the journal's file. */
  readonly journal: TransactionJournal
  readonly rpcUrl: string
  /** Pause between two looks at the chain. */
  readonly pollMs?: number
  /** Gas money that stays behind; nothing is taken that would touch it. */
  readonly reserve?: GasReserve
  readonly outcomesOf?: OutcomesOf
  readonly facts: LaneFacts
  /** Called when the journal fails or an invariant breaks: nothing more can be promised then. */
  readonly onFatal: (error: unknown) => void
}

/** In wei, or the cost of so many transactions of so much gas at what the newest block makes a transaction bid. */
export type GasReserve =
  { readonly wei: bigint } | { readonly transactions: bigint; readonly gasEach: bigint }

/** Why the lane takes nothing now. */
export interface Shortage {
  readonly kind: 'frozen' | 'too_many_open' | 'gas_money'
  readonly why: string
}

/** The lane was frozen before the call could be taken; nothing is recorded. */
export class LaneFrozen extends Error {
  override readonly name = 'LaneFrozen'
}

/** Everything that is sent by one key, each transaction seen through until the chain cannot lose it any more. */
export interface TransactionLane {
  readonly address: Address
  /**
   * Signs the call with the next nonce, records the bytes, then sends them, and sees to it that they are mined. Does not
   * yield before they are recorded. Throws JournalUnwritable or LaneFrozen, with nothing recorded.
   */
  take(call: IntendedCall): OpenTransaction
  /** The result once the chain has one; undefined when there is none within the time or the lane stops. */
  waitFor(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined>
  /** Whether a node said that it has the transaction. */
  wasTaken(intentId: string): boolean
  /** Transactions that are not mined. */
  openCount(): number
  /** What a transaction may bid now, and what the key holds; rejects with ChainUnreachable. */
  readonly readGas: GasReader
  /** Why a transaction that may cost so much is not to be taken now. To be asked right before `take`. */
  shortage(gas: GasFacts, costWei: bigint): Shortage | undefined
  frozen(): Frozen | undefined
  /** Milliseconds since the chain last answered; it is asked several times a second. */
  readonly chainSilentMs: () => number
  /** Whoever waits is answered without a result; nothing is lost, since the journal is on disk. */
  stop(): Promise<void>
}

/** A quarter of a second is little beside a block and much beside a question. */
const POLL_MS = 250
const CHAIN_WAIT_MS = 30_000
/** Transactions in flight at once. */
export const MAX_OPEN_TRANSACTIONS = 512

/**
 * Continues the key's nonces, sends again what the journal left open, and follows all of it. Rejects with
 * ChainUnreachable when the chain does not answer for half a minute.
 */
export async function openLane(options: LaneOptions): Promise<TransactionLane> {
  const {
    signer,
    journal,
    rpcUrl,
    facts,
    onFatal,
    pollMs = POLL_MS,
    reserve = { wei: 0n },
  } = options
  const { address } = signer
  const read = createChainClient(rpcUrl, 'read')
  const submit = createChainClient(rpcUrl, 'submit')
  const count = () => countMined(read, address)
  const minedNonces = await untilAnswering(count, CHAIN_WAIT_MS, facts.waitingForChain)
  const nonces = openNonceLane({ signer, journal, minedNonces })
  const { outcomesOf } = options
  const tracker = createTransactionTracker({
    ...{ address, journal, read, submit, pollMs, facts, onFatal },
    ...(outcomesOf && { outcomesOf }),
  })
  await tracker.start()
  facts.laneOpened({ address, minedNonces, open: tracker.openCount() })

  return {
    address,
    take(call) {
      const transaction = nonces.take(call)
      facts.journaled(transaction)
      crash('lane.after_commit_before_broadcast')
      tracker.add(transaction)
      return transaction
    },
    waitFor: (intentId, timeoutMs) => tracker.waitFor(intentId, timeoutMs),
    wasTaken: (intentId) => tracker.wasTaken(intentId),
    openCount: () => tracker.openCount(),
    readGas: createGasReader(read, address),
    shortage(gas, costWei) {
      if (tracker.openCount() >= MAX_OPEN_TRANSACTIONS) {
        return { kind: 'too_many_open', why: 'too many transactions in flight' }
      }
      const needed = tracker.reservedWei() + costWei + reserveWei(reserve, gas)
      if (gas.balance >= needed) return undefined
      return { kind: 'gas_money', why: 'the signer has not enough gas money' }
    },
    frozen: () => undefined,
    chainSilentMs: tracker.chainSilentMs,
    stop: () => tracker.stop(),
  }
}

/** Gas money to be left alone at the present fees, in wei. */
export function reserveWei(reserve: GasReserve, { maxFeePerGas }: GasFacts): bigint {
  return 'wei' in reserve ? reserve.wei : reserve.transactions * reserve.gasEach * maxFeePerGas
}
