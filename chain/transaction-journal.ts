import type { Address, Hex } from '../core/action.js'

/** One signed form of a transaction: what goes over the wire, and what it may cost at most, in wei. */
export interface Attempt {
  readonly hash: Hex
  readonly raw: Hex
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
}

/** A call that somebody wants made once: a settlement, a deposit, a withdrawal. */
export interface Intent {
  readonly intentId: string
  /** keccak-256 of the call, so that one id is never taken for two calls. */
  readonly fingerprint: Hex
}

/** A transaction whose outcome is not known yet. It keeps its nonce for life; a later attempt may only cost more. */
export interface OpenTransaction {
  readonly from: Address
  readonly evmNonce: number
  /** What it carries out, fixed before it was signed; by position. Empty: it does nothing but use its nonce. */
  readonly intentIds: readonly string[]
  /** Oldest first, never empty. */
  readonly attempts: readonly Attempt[]
}

/** Where the chain has a transaction. */
export interface Inclusion {
  readonly hash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
}

/** What a transaction that the chain mined did with one of its intents. */
export type IntentOutcome =
  | { readonly status: 'success' }
  /** With the revert's name, `unknown` when it could not be found. */
  | { readonly status: 'reverted'; readonly revert: string }

/** What the chain did with an intent. */
export interface MinedTransaction extends Inclusion {
  readonly status: 'success' | 'reverted'
  /** Name of the revert, `unknown` when it could not be found; only for `reverted`. */
  readonly revert?: string
}

/** What is known of one intent. */
export interface RecordedIntent {
  readonly fingerprint: Hex
  readonly state:
    | { readonly kind: 'refused'; readonly revert: string }
    | { readonly kind: 'open'; readonly transaction: OpenTransaction }
    | { readonly kind: 'mined'; readonly transaction: MinedTransaction }
    /** A stranger's transaction took its nonce for good: it was never carried out, and may be taken again. */
    | { readonly kind: 'displaced' }
}

/** A transaction that still has to be looked after: it is open, or it is mined in a block that may yet be lost. */
export interface UnsettledTransaction {
  readonly transaction: OpenTransaction
  /** Absent while it is open. */
  readonly mined?: Inclusion
}

/** An outcome that was recorded, and may have been told, is not true any more. Never changed once it is written. */
export interface Reversal {
  /** From 1, in the order in which it was found out. */
  readonly no: number
  readonly intentId: string
  readonly before: MinedTransaction
  /** What is true instead, as far as is known: a later reversal of the intent goes on from here. */
  readonly now: MinedTransaction | { readonly status: 'displaced' }
}

/** The attempt that was mined, with what became of each intent, by position. */
export interface MiningResult extends Inclusion {
  readonly outcomes: readonly IntentOutcome[]
}

/**
 * The write-ahead record of every transaction, on disk before each method returns. A write that throws has recorded
 * nothing that was not there before.
 */
export interface TransactionJournal {
  find(intentId: string): RecordedIntent | undefined
  /** Final: the chain refused the call when it was tried out, and it was never sent. */
  recordRefusal(intentId: string, fingerprint: Hex, revert: string): void
  /**
   * Claims the nonce for the intents, whose fingerprints come by position. Throws when the nonce is taken, or when an
   * intent is and was not displaced.
   */
  recordSigned(transaction: OpenTransaction, fingerprints: readonly Hex[]): void
  /** One more signed form of an open transaction. */
  recordAttempt(from: Address, evmNonce: number, attempt: Attempt): void
  /** Also for one that was mined before; answers the outcomes that it turned round. */
  recordMined(from: Address, evmNonce: number, result: MiningResult): Reversal[]
  /** The chain will not lose these any more. */
  recordFinal(from: Address, evmNonces: readonly number[]): void
  /** A stranger's transaction is final at the nonce; answers the outcomes that this turned round. */
  recordDisplaced(from: Address, evmNonce: number, by: Inclusion): Reversal[]
  /** Highest nonce ever claimed by the sender, plus one; 0 before the first. */
  nextNonce(from: Address): number
  /** The nonces from this one on that it holds, ascending. */
  claimedFrom(from: Address, evmNonce: number): number[]
  /** In the order of their nonces. */
  unsettledTransactions(from: Address): UnsettledTransaction[]
  /** Makes these mined transactions open again, final ones as well, after the chain forgot them. */
  reopen(from: Address, evmNonces: readonly number[]): void
  /** Reversals whose number is higher, the oldest first, at most `limit`. */
  reversalsAfter(no: number, limit: number): Reversal[]
}
