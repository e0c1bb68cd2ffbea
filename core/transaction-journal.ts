import type { Address, Hex } from './action.js'
import type { TransferRecord } from './transfer.js'

/** One signed form of a transaction, with its gas limit and its highest fee in wei. */
export interface Attempt {
  readonly hash: Hex
  readonly raw: Hex
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
}

/** A call to be made exactly once: a settlement, a deposit, a withdrawal or a piece of upkeep. */
export interface Intent {
  readonly intentId: string
  /** keccak-256 of the call; detects an id that is used for two calls. */
  readonly fingerprint: Hex
}

/** A transaction without an outcome. It never changes its nonce; a later attempt has higher fees. */
export interface OpenTransaction {
  readonly from: Address
  readonly evmNonce: number
  /** The intents that it carries out, by position; empty when it only fills a gap. */
  readonly intentIds: readonly string[]
  /** Oldest first, never empty. */
  readonly attempts: readonly Attempt[]
}

/** The block that has a transaction. */
export interface Inclusion {
  readonly hash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
}

/** The outcome of one intent of a mined transaction. */
export type IntentOutcome =
  | { readonly status: 'success' }
  /** `revert` is the revert's name, or `unknown`. */
  | { readonly status: 'reverted'; readonly revert: string }

/** The mined result of an intent. */
export interface MinedTransaction extends Inclusion {
  readonly status: 'success' | 'reverted'
  /** The revert's name, or `unknown`; only for `reverted`. */
  readonly revert?: string
}

/** What is known of one intent. */
export interface RecordedIntent {
  readonly fingerprint: Hex
  readonly state:
    | { readonly kind: 'refused'; readonly revert: string }
    | { readonly kind: 'open'; readonly transaction: OpenTransaction }
    | { readonly kind: 'mined'; readonly transaction: MinedTransaction }
    /** A foreign transaction at its nonce is final: it was never carried out, and may be submitted again. */
    | { readonly kind: 'displaced' }
}

/** A transaction that is open, or mined in a block that is not final. */
export interface UnsettledTransaction {
  readonly transaction: OpenTransaction
  /** Absent while it is open. */
  readonly mined?: Inclusion
}

/** A journaled outcome, possibly reported before, that is no longer true. Immutable. */
export interface Reversal {
  /** Counts from 1, in the order of discovery. */
  readonly no: number
  readonly intentId: string
  readonly before: MinedTransaction
  /** The new outcome; a later reversal of the intent may replace it. */
  readonly now: MinedTransaction | { readonly status: 'displaced' }
}

/** The attempt that was mined, with the outcome of each intent by position. */
export interface MiningResult extends Inclusion {
  readonly outcomes: readonly IntentOutcome[]
}

/**
 * The log of every transaction. What a method records can be read at once, and has no effect when the method throws; it
 * lasts once `durable` says so, because its stream has it then. Only then may a transaction be broadcast or an outcome be
 * told: until then a crash forgets it, and another process may continue from the stream.
 */
export interface TransactionJournal {
  /** Resolves once all that was recorded before the call is in the stream; does not resolve after the writer was deposed. */
  durable(): Promise<void>
  /** Whether the signed form of that hash is in the stream. */
  isDurable(attemptHash: Hex): boolean
  find(intentId: string): RecordedIntent | undefined
  /** Final: the simulation of the call reverted, and it was never sent. */
  recordRefusal(intentId: string, fingerprint: Hex, revert: string): void
  /**
   * Claims the nonce for the intents; fingerprints by position. Throws when the nonce is taken, or when an intent has
   * another transaction that was not displaced.
   */
  recordSigned(transaction: OpenTransaction, fingerprints: readonly Hex[]): void
  /** Adds a signed form of an open transaction. */
  recordAttempt(from: Address, evmNonce: number, attempt: Attempt): void
  /** Also for a transaction that was mined before. Returns the outcomes that this reversed. */
  recordMined(from: Address, evmNonce: number, result: MiningResult): Reversal[]
  /** The blocks of these are final. */
  recordFinal(from: Address, evmNonces: readonly number[]): void
  /** A foreign transaction is final at the nonce. Returns the outcomes that this reversed. */
  recordDisplaced(from: Address, evmNonce: number, by: Inclusion): Reversal[]
  /** The chain has used a nonce of the sender that this journal lacks, and lacks for good: later ones go on after it. */
  recordForeign(from: Address, evmNonce: number, by: Inclusion): void
  /** The highest nonce that the sender ever claimed, plus one; 0 before the first. */
  nextNonce(from: Address): number
  /** The sender's journaled nonces from this one on, ascending. */
  claimedFrom(from: Address, evmNonce: number): number[]
  /** In the order of their nonces. */
  unsettledTransactions(from: Address): UnsettledTransaction[]
  /** The intents whose transactions are open, or mined in a block that is not final; of every sender. */
  unsettledIntents(): string[]
  /** The senders with such transactions. */
  unsettledSenders(): Address[]
  /** When the transaction that stands for the intent was first signed, unix milliseconds. */
  signedAtMs(intentId: string): number | undefined
  /** Makes mined transactions open again, also final ones, after the chain lost them. */
  reopen(from: Address, evmNonces: readonly number[]): void
  /** At most `limit` reversals with a higher number, the oldest first. */
  reversalsAfter(no: number, limit: number): Reversal[]
}

/** Why a claim was given up before anything was sent for it. */
export interface Decline {
  readonly error: string
  /** The revert that refused it in the simulation. */
  readonly revert?: string | undefined
}

/** A transfer that a submitter has taken. Its transactions are in the journal under their intents. */
export interface JournaledClaim {
  /** As it was claimed, with status `pending`. */
  readonly record: TransferRecord
  /** The request's body with its valid signature; empty once it is trimmed, because nothing is carried out by it any more. */
  readonly request: string
  /** Present where it was given up; the same action may be claimed again. */
  readonly declined?: Decline
  /** Of the newest entry about it. Counts the entries about claims from 1. */
  readonly no: number
}

/** The claims in the journal of a submitter. What is recorded lasts once `durable` of the journal says so. */
export interface ClaimJournal {
  /** Takes the action, which has no claim that was not declined. */
  recordClaim(record: TransferRecord, request: string): void
  /** Gives the action up: nothing was sent for it, or a foreign transaction has displaced that for good. */
  recordDecline(actionHash: Hex, decline: Decline): void
  /** Those with a newer entry than that number, ascending. Nothing may be recorded between two of them. */
  claimsAfter(no: number): Iterable<JournaledClaim>
  /** The number of the newest entry about a claim; 0 for none. */
  newestClaimNo(): number
}

/** A key that is kept elsewhere gave no good signature in time: nothing was signed, and nothing may be sent. */
export class SignerUnavailable extends Error {
  override readonly name = 'SignerUnavailable'
}

/** The processes that send transactions. Each has one journal, whichever key it sends with. */
export const JOURNAL_OWNERS = [
  'executor',
  'deposit-submitter',
  'withdrawal-submitter',
  'keeper',
] as const
export type JournalOwner = (typeof JOURNAL_OWNERS)[number]

/** One transaction of one key: its sender and its nonce. */
interface TransactionKey {
  readonly from: Address
  readonly evmNonce: number
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
    } & TransactionKey &
      AtTime)
  | ({ readonly kind: 'attempt'; readonly attempt: Attempt } & TransactionKey & AtTime)
  | ({ readonly kind: 'mined'; readonly result: MiningResult } & TransactionKey & AtTime)
  | { readonly kind: 'final'; readonly from: Address; readonly evmNonces: readonly number[] }
  | ({ readonly kind: 'displaced'; readonly by: Inclusion } & TransactionKey & AtTime)
  /** A nonce of the key that the chain has used while this journal was lost; what a restore finds. */
  | ({ readonly kind: 'foreign'; readonly by: Inclusion } & TransactionKey)
  | { readonly kind: 'reopened'; readonly from: Address; readonly evmNonces: readonly number[] }
  /** A submitter has taken a transfer, after its checks and limits and before it signs anything for it. */
  | { readonly kind: 'claimed'; readonly record: TransferRecord; readonly request: string }
  | ({ readonly kind: 'declined'; readonly actionHash: Hex } & Decline & AtTime)
  /**
   * Final transactions, whose signed bytes are dropped: nonces, hashes and outcomes stay. Of the transfers that they carried out the
   * requests are dropped too.
   */
  | { readonly kind: 'trimmed'; readonly from: Address; readonly evmNonces: readonly number[] }
  /** Transfers that were given up, whose requests are dropped. */
  | { readonly kind: 'emptied'; readonly actionHashes: readonly Hex[] }

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
  /** Only without entries. */
  readonly snapshot?: SnapshotPart
}

/** An outcome as it was when a reversal was found. */
export interface RecordedOutcome extends Inclusion {
  readonly status: 'success' | 'reverted' | 'displaced'
  /** Of `reverted`. */
  readonly revert?: string | undefined
}

/** One row of the tables of a journal; `data/migrations/journal` says what each column means. */
export type SnapshotRow =
  | {
      readonly kind: 'intent'
      /** Counts the intents from 1, in the order in which they were first recorded. */
      readonly no: number
      readonly intentId: string
      readonly fingerprint: Hex
      readonly refusedRevert?: string | undefined
      readonly atMs: number
    }
  | {
      readonly kind: 'transaction'
      readonly from: Address
      readonly evmNonce: number
      readonly status: 'open' | 'mined' | 'displaced'
      readonly by?: Inclusion | undefined
      readonly isFinal: boolean
    }
  | {
      readonly kind: 'carried'
      readonly from: Address
      readonly evmNonce: number
      readonly place: number
      readonly intentId: string
      readonly outcome?: 'success' | 'reverted' | undefined
      readonly revert?: string | undefined
      readonly isDisplaced: boolean
    }
  | {
      readonly kind: 'attempt'
      readonly from: Address
      readonly evmNonce: number
      readonly no: number
      readonly attempt: Attempt
      readonly atMs: number
    }
  | {
      readonly kind: 'reversal'
      readonly no: number
      readonly intentId: string
      readonly before: RecordedOutcome
      readonly now: RecordedOutcome
      readonly atMs: number
    }
  | {
      readonly kind: 'claim'
      readonly no: number
      readonly record: TransferRecord
      /** Empty once it is trimmed. */
      readonly request: string
      readonly declined?: SnapshotDecline | undefined
    }

export interface SnapshotDecline {
  readonly error: string
  readonly revert?: string | undefined
  readonly atMs: number
}

/** Where a journal's file stands in the journal's stream. */
export interface StreamPlace {
  /** The last message that is folded into the file; 0 for none. */
  readonly lastSeq: number
  /** Of that message; 0 and empty before the first. */
  readonly term: number
  readonly writer: string
}

/**
 * A part of a snapshot: the rows that a fold of the stream up to its place gives. The parts of one snapshot state the same place,
 * and stand in the stream behind it, in their order, with other messages between them. A snapshot without its last part is none.
 */
export interface SnapshotPart {
  readonly place: StreamPlace
  /** Counts from 1. */
  readonly no: number
  readonly isLast: boolean
  /** Each after the rows that it refers to. */
  readonly rows: readonly SnapshotRow[]
}

/** Where the entries of a journal go. */
export interface EntrySink {
  /** Writes the entry's rows and returns the outcomes that it reversed. Throws JournalUnwritable. */
  readonly record: (entry: JournalEntry) => Reversal[]
  readonly durable: TransactionJournal['durable']
  readonly isDurable: TransactionJournal['isDurable']
}
