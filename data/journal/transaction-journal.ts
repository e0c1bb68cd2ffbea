import type { Database } from 'better-sqlite3'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { exactNumber } from '../../core/decimal.js'
import type {
  OpenTransaction,
  RecordedIntent,
  TransactionJournal,
  EntrySink,
} from '../../core/transaction-journal.js'
import { blobOf, hexOf } from '../row-values.js'
import { prepareApply } from './apply-entry.js'
import { orUnwritable } from './journal-file.js'
import {
  assertSigned,
  attemptOf,
  inclusionOf,
  prepareTransactionReads,
  resultOf,
  reversalOf,
  type IntentRow,
  type TransactionReads,
} from './transaction-rows.js'

/** For a journal that is nowhere but in its file. */
export function writeAlone(db: Database): EntrySink {
  const apply = db.transaction(prepareApply(db, prepareTransactionReads(db)))
  return {
    record: orUnwritable((entry) => apply.immediate(entry)),
    durable: () => Promise.resolve(),
    isDurable: () => true,
  }
}

/**
 * The journal whose rows are in the database and whose entries go to `sink`; by default they are in the database alone. A
 * nonce or intent that is already taken throws: the caller has broken an invariant.
 */
export function createTransactionJournal(
  db: Database,
  nowMs: () => number = Date.now,
  sink: EntrySink = writeAlone(db),
): TransactionJournal {
  const read = prepareTransactionReads(db)
  const { record } = sink
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
    signedAtMs(intentId) {
      const first = read.signedAt.get(intentId)
      return typeof first === 'bigint' ? exactNumber(first) : undefined
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
