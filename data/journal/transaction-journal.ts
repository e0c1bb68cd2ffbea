import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { exactNumber } from '../../core/decimal.js'
import type {
  JournalEntry,
  JournalOwner,
  OpenTransaction,
  RecordedIntent,
  Reversal,
  TransactionJournal,
} from '../../core/transaction-journal.js'
import { blobOf, hexOf } from '../row-values.js'
import { prepareApply } from './apply-entry.js'
import {
  assertSigned,
  attemptOf,
  inclusionOf,
  prepareTransactionReads,
  resultOf,
  reversalOf,
  signedIntentOf,
  type IntentRow,
  type TransactionReads,
} from './transaction-rows.js'

/** Schema of a journal of signed transactions. */
export const JOURNAL_MIGRATIONS = new URL('../../../data/migrations/executor/', import.meta.url)

/** The name of the file of each journal, in DATA_DIR. */
export const JOURNAL_FILES: Readonly<Record<JournalOwner, string>> = {
  executor: 'executor.db',
  'deposit-submitter': 'deposit-transactions.db',
  'withdrawal-submitter': 'withdrawal-transactions.db',
}

/** The journal's disk refused a write, so nothing may be broadcast. */
export class JournalUnwritable extends Error {
  override readonly name = 'JournalUnwritable'
}

/** Where the entries of a journal go beside its tables. */
export interface EntrySink {
  /** Called with each entry inside the transaction that writes its rows. */
  readonly add: (entry: JournalEntry) => void
  readonly durable: TransactionJournal['durable']
  readonly isDurable: TransactionJournal['isDurable']
}

/** For a journal that is nowhere but in its file. */
const NO_SINK: EntrySink = {
  add: () => undefined,
  durable: () => Promise.resolve(),
  isDurable: () => true,
}

/**
 * The journal in a database opened with synchronous FULL: what a method has recorded survives a power cut. Throws
 * JournalUnwritable when the disk refuses a write. A nonce or intent that is already taken throws too: the caller has
 * broken an invariant. `sink` gets every entry, by default none does.
 */
export function createTransactionJournal(
  db: Database,
  nowMs: () => number = Date.now,
  sink: EntrySink = NO_SINK,
): TransactionJournal {
  const read = prepareTransactionReads(db)
  const apply = prepareApply(db, read)
  const record = durably(db, (entry: JournalEntry): Reversal[] => {
    const reversals = apply(entry)
    sink.add(entry)
    return reversals
  })
  return {
    durable: sink.durable,
    isDurable: sink.isDurable,
    find(intentId) {
      const row = read.intent.get(intentId)
      if (row === undefined) return undefined
      return { fingerprint: hexOf(row.fingerprint), state: stateOf(read, row) }
    },
    recordRefusal: (intentId, fingerprint, revert) =>
      void record({ kind: 'refused', intentId, fingerprint, revert, atMs: nowMs() }),
    recordSigned: (transaction, fingerprints) =>
      void record({ ...signedEntry(transaction, fingerprints), atMs: nowMs() }),
    recordAttempt: (from, evmNonce, attempt) =>
      void record({ kind: 'attempt', from, evmNonce, attempt, atMs: nowMs() }),
    recordMined: (from, evmNonce, result) =>
      record({ kind: 'mined', from, evmNonce, result, atMs: nowMs() }),
    recordFinal: (from, evmNonces) => void record({ kind: 'final', from, evmNonces }),
    recordDisplaced: (from, evmNonce, by) =>
      record({ kind: 'displaced', from, evmNonce, by, atMs: nowMs() }),
    recordForeign: (from, evmNonce, by) => void record({ kind: 'foreign', from, evmNonce, by }),
    nextNonce: (from) => exactNumber(read.nextNonce.get(blobOf(from))?.next ?? 0n),
    claimedFrom: (from, evmNonce) =>
      read.claimedFrom.all(blobOf(from), evmNonce).map((row) => exactNumber(row.evm_nonce)),
    unsettledTransactions: (from) =>
      read.unsettled.all(blobOf(from)).map((row) => {
        const transaction = transactionOf(read, from, exactNumber(row.evm_nonce))
        const mined = row.status === 'open' ? undefined : inclusionOf(row)
        return mined === undefined ? { transaction } : { transaction, mined }
      }),
    unsettledIntents: () => read.unsettledIntents.all(),
    unsettledSenders: () => read.unsettledSenders.all().map(hexOf),
    *signedIntents(prefix) {
      for (const row of read.signedIntents.iterate(prefix, `${prefix}\uffff`))
        yield signedIntentOf(row)
    },
    reopen: (from, evmNonces) => void record({ kind: 'reopened', from, evmNonces }),
    reversalsAfter: (no, limit) => read.reversals.all(no, limit).map(reversalOf),
  }
}

/** A transaction is recorded with its first signed form; the later ones are added. */
function signedEntry(
  { from, evmNonce, intentIds, attempts }: OpenTransaction,
  fingerprints: readonly Hex[],
) {
  const [attempt] = attempts
  assert(attempt !== undefined && attempts.length === 1, `nonce ${evmNonce} is not signed once`)
  assert(fingerprints.length === intentIds.length, `nonce ${evmNonce} lacks a fingerprint`)
  const intents = intentIds.map((intentId, position) => {
    const fingerprint = fingerprints[position]
    assert(fingerprint !== undefined, `intent ${intentId} has no fingerprint`)
    return { intentId, fingerprint }
  })
  return { kind: 'signed', from, evmNonce, intents, attempt } as const
}

/** The write as one durable transaction; a full or failing disk is an operating error. */
export function durably<Args extends unknown[], Result>(
  db: Database,
  write: (...args: Args) => Result,
) {
  const transaction = db.transaction(write)
  return (...args: Args): Result => {
    try {
      return transaction.immediate(...args)
    } catch (error) {
      const isOfDisk =
        error instanceof Sqlite.SqliteError && /^SQLITE_(FULL|IOERR|BUSY|READONLY)/.test(error.code)
      if (!isOfDisk) throw error
      throw new JournalUnwritable('the journal could not be written', { cause: error })
    }
  }
}

function stateOf(read: TransactionReads, row: IntentRow): RecordedIntent['state'] {
  if (row.refused_revert !== null) return { kind: 'refused', revert: row.refused_revert }
  if (row.sender === null || row.evm_nonce === null) return { kind: 'displaced' }
  const evmNonce = exactNumber(row.evm_nonce)
  if (row.status === 'open') {
    return { kind: 'open', transaction: transactionOf(read, hexOf(row.sender), evmNonce) }
  }
  const transaction = resultOf(row)
  assert(transaction !== undefined, `transaction ${evmNonce} has half a result`)
  return { kind: 'mined', transaction }
}

function transactionOf(read: TransactionReads, from: Address, evmNonce: number) {
  const attempts = read.attempts.all(blobOf(from), evmNonce).map(attemptOf)
  const intentIds = read.carried.all(blobOf(from), evmNonce).map((row) => row.intent_id)
  return assertSigned({ from, evmNonce, intentIds, attempts })
}
