import type { Address } from './action.js'
import type { Attempt, Inclusion, Intent, MiningResult } from './transaction-journal.js'

/** The processes that send transactions. Each has one journal, whichever key it sends with. */
export const JOURNAL_OWNERS = ['executor', 'deposit-submitter', 'withdrawal-submitter'] as const
export type JournalOwner = (typeof JOURNAL_OWNERS)[number]

/** One transaction of one key: its sender and its nonce. */
interface OfTransaction {
  readonly from: Address
  readonly evmNonce: number
}

/** An outcome of an intent that had another one recorded, before or after that. */
export interface ChangedOutcome extends Inclusion {
  readonly status: 'success' | 'reverted' | 'displaced'
  /** Only of `reverted`. */
  readonly revert?: string
}

/** When it was recorded, unix milliseconds of the writer's clock. */
interface AtTime {
  readonly atMs: number
}

/**
 * One write of a transaction journal. The journal's tables are a fold of its entries: the same entries give the same
 * rows, also the numbers of reversals.
 */
export type JournalEntry =
  /** The simulation of the call reverted; it was never sent. */
  | ({ readonly kind: 'refused'; readonly revert: string } & Intent & AtTime)
  /** The nonce is claimed for the intents; every later attempt at it carries the same ones. */
  | ({
      readonly kind: 'signed'
      readonly intents: readonly Intent[]
      readonly attempt: Attempt
    } & OfTransaction &
      AtTime)
  | ({ readonly kind: 'attempt'; readonly attempt: Attempt } & OfTransaction & AtTime)
  | ({ readonly kind: 'mined'; readonly result: MiningResult } & OfTransaction & AtTime)
  | { readonly kind: 'final'; readonly from: Address; readonly evmNonces: readonly number[] }
  | ({ readonly kind: 'displaced'; readonly by: Inclusion } & OfTransaction & AtTime)
  /** A nonce of the key that the chain has used while this journal was lost; what a restore finds. */
  | ({ readonly kind: 'foreign'; readonly by: Inclusion } & OfTransaction)
  | { readonly kind: 'reopened'; readonly from: Address; readonly evmNonces: readonly number[] }
  /** A reversal that an earlier release has recorded; others follow from the entries. */
  | ({
      readonly kind: 'reversed'
      readonly intentId: string
      readonly before: ChangedOutcome
      readonly now: ChangedOutcome
    } & AtTime)

/**
 * What a writer appends to its journal's stream at once. Each append is fenced by the one before, so that only the newest
 * writer can append. Without entries it says that this writer takes over.
 */
export interface JournalMessage {
  /** Greater than that of every writer before. */
  readonly term: number
  /** Names the process, for the log. */
  readonly writer: string
  readonly entries: readonly JournalEntry[]
}
