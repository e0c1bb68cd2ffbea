import type { Address, Hex } from '../core/action.js'

/** One signed form of a transaction: what goes over the wire, and what it may cost at most. */
export interface Attempt {
  readonly hash: Hex
  readonly raw: Hex
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
}

/** A transaction whose outcome is not known yet. It keeps its nonce for life; a later attempt may only cost more. */
export interface OpenTransaction {
  readonly intentId: string
  readonly from: Address
  readonly evmNonce: number
  /** Oldest first, never empty. */
  readonly attempts: readonly Attempt[]
}

/** What the chain did with a transaction, by the first receipt seen. */
export interface MinedTransaction {
  readonly status: 'success' | 'reverted'
  readonly hash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
  /** Name of the revert, `unknown` when it could not be found; only for `reverted`. */
  readonly revert?: string
}

/** What is known of one intended call (a settlement, a deposit, a withdrawal). */
export interface RecordedIntent {
  /** keccak-256 of the call, so that one id is never taken for two calls. */
  readonly fingerprint: Hex
  readonly state:
    | { readonly kind: 'refused'; readonly revert: string }
    | { readonly kind: 'open'; readonly transaction: OpenTransaction }
    | { readonly kind: 'mined'; readonly transaction: MinedTransaction }
}

/**
 * The write-ahead record of every transaction, on disk before each method returns. A write that throws has recorded
 * nothing that was not there before.
 */
export interface TransactionJournal {
  find(intentId: string): RecordedIntent | undefined
  /** Final: the chain refused the call when it was tried out, and it was never sent. */
  recordRefusal(intentId: string, fingerprint: Hex, revert: string): void
  /** Claims the nonce for the intent. Throws when either is taken. */
  recordSigned(intent: OpenTransaction, fingerprint: Hex): void
  recordMined(from: Address, evmNonce: number, mined: MinedTransaction): void
  /** Highest nonce ever claimed by the sender, plus one; 0 before the first. */
  nextNonce(from: Address): number
  /** In the order of their nonces. */
  openTransactions(from: Address): OpenTransaction[]
  /** Makes every mined transaction from this nonce on open again, after the chain forgot it; answers how many. */
  reopenFrom(from: Address, evmNonce: number): number
}
