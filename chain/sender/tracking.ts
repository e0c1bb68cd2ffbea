import type { Address } from '../../core/action.js'
import type {
  MinedTransaction,
  TransactionJournal,
  IntentOutcome,
  Inclusion,
} from '../../core/transaction-journal.js'
import type { Doubt, SenderPolicy } from './follow-transaction.js'
import type { GasReserve } from './gas.js'
import type { SentCall } from './investigate.js'
import type { FollowedTransactions, KeyNonces } from './key-nonces.js'
import type { Frozen, SenderObserver } from './observe-sender.js'
import type { HeadBlock, SenderChain, MinedReceipt } from './sender-chain.js'

export interface TrackerOptions {
  readonly journal: TransactionJournal
  readonly nonces: KeyNonces
  readonly chain: SenderChain
  readonly policy: SenderPolicy
  readonly outcomesOf?: OutcomesOf
  /** As the sender's option of that name. */
  readonly mayBeOurs?: (call: SentCall) => boolean
  readonly reserve: GasReserve
  /** A foreign transaction that was found before. */
  readonly frozen?: Frozen | undefined
  /** Passes when the node is still on the right chain; rejects with ChainUnreachable when it does not answer. */
  readonly verifyChain?: () => Promise<void>
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number
  readonly facts: SenderObserver
  /** Called when the journal fails or an invariant breaks; the process must stop. */
  readonly onFatal: (error: unknown) => void
}

/** The state of a tracker; only its polls change it. */
export interface TrackerState extends Omit<TrackerOptions, 'frozen'> {
  readonly address: Address
  readonly followed: FollowedTransactions
  readonly waiters: ResultWaiters
  /** The head of the last complete poll. */
  head?: HeadBlock
  /** Nonces used at that head. */
  count: number
  /** The highest count ever seen, and when it was first seen. */
  mostUsed: number
  progressMs: number
  /** When the chain was last polled. */
  lookedMs: number
  /** The highest block ever seen. */
  highest: bigint
  /** Polls that showed more nonces used than the sender has claimed. */
  foreign: Doubt
  /** Polls that showed nonces missing, in the journal or on the chain. */
  missing: Doubt
  frozen: Frozen | undefined
  /** The acceptance that is running; there is one at a time. */
  accepting?: Promise<Acceptance> | undefined
  /** When the chain was last verified; undefined since the node last failed to answer. */
  verifiedMs?: number | undefined
  gasLow: boolean
  reachable: boolean
  answeredAtMs: number
}

/** Callers that wait for the result of an intent; bounded by the open requests. */
export interface ResultWaiters {
  /** The result; undefined when there is none within the time, or after `wakeAll`. */
  wait(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined>
  wake(intentId: string, mined: MinedTransaction): void
  /** Ends every wait without a result. */
  wakeAll(): void
}

/** What became of an operator's acceptance of a foreign transaction. */
export type Acceptance =
  /** The sender takes transactions again; nonces of the key that this journal has not claimed, with what used them. */
  | { readonly kind: 'accepted'; readonly foreign: readonly ForeignNonce[] }
  | { readonly kind: 'not_frozen' }
  /** The sender is frozen by another one, which is to be named. */
  | { readonly kind: 'another'; readonly frozen: Frozen }
  /** A reorganisation may still change what used the nonce. */
  | { readonly kind: 'not_final'; readonly frozen: Frozen }
  /** No node can tell what used one of the nonces. */
  | { readonly kind: 'unexplained'; readonly evmNonce: number }
  /** It may be one that a lost journal has sent: what it did would be done again. */
  | ({ readonly kind: 'own' } & ForeignNonce)

/**
 * The outcome of each intent of a successful transaction, by position. Deterministic. Not called for a reverted
 * transaction, which undid all of its intents.
 */
export type OutcomesOf = (
  receipt: MinedReceipt,
  intentIds: readonly string[],
) => readonly IntentOutcome[]

export interface ForeignNonce {
  readonly evmNonce: number
  readonly by: Inclusion
}
