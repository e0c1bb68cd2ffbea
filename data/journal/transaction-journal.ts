import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { crash } from '../../core/crash-point.js'
import { exactNumber } from '../../core/decimal.js'
import type {
  Attempt,
  Inclusion,
  MiningResult,
  OpenTransaction,
  RecordedIntent,
  Reversal,
  TransactionJournal,
} from '../../core/transaction-journal.js'
import { blobOf, hexOf } from '../row-values.js'
import {
  assertSigned,
  attemptOf,
  inclusionOf,
  prepareTransactionReads,
  resultOf,
  reversalOf,
  type CarriedRow,
  type IntentRow,
  type TransactionReads,
} from './transaction-rows.js'

/** Schema of executor.db: the journal of signed transactions. */
export const JOURNAL_MIGRATIONS = new URL('../../../data/migrations/executor/', import.meta.url)

/** The journal's disk refused a write, so nothing may be broadcast. */
export class JournalUnwritable extends Error {
  override readonly name = 'JournalUnwritable'
}

/**
 * The journal in a database opened with synchronous FULL: what a method has recorded survives a power cut. Throws
 * JournalUnwritable when the disk refuses a write. A nonce or intent that is already taken throws too: the caller has
 * broken an invariant.
 */
export function createTransactionJournal(
  db: Database,
  nowMs: () => number = Date.now,
): TransactionJournal {
  const read = prepareTransactionReads(db)
  const write = prepareWrites(db, read, nowMs)
  return {
    find(intentId) {
      const row = read.intent.get(intentId)
      if (row === undefined) return undefined
      return { fingerprint: hexOf(row.fingerprint), state: stateOf(read, row) }
    },
    recordRefusal: durable(db, write.intent),
    recordSigned: durable(db, write.signed),
    recordAttempt: durable(db, write.attempt),
    recordMined: durable(db, write.mined),
    recordFinal: durable(db, write.final),
    recordDisplaced: durable(db, write.displaced),
    nextNonce: (from) => exactNumber(read.nextNonce.get(blobOf(from))?.next ?? 0n),
    claimedFrom: (from, evmNonce) =>
      read.claimedFrom.all(blobOf(from), evmNonce).map((row) => exactNumber(row.evm_nonce)),
    unsettledTransactions: (from) =>
      read.unsettled.all(blobOf(from)).map((row) => {
        const transaction = transactionOf(read, from, exactNumber(row.evm_nonce))
        const mined = row.status === 'open' ? undefined : inclusionOf(row)
        return mined === undefined ? { transaction } : { transaction, mined }
      }),
    reopen: durable(db, write.reopen),
    reversalsAfter: (no, limit) => read.reversals.all(no, limit).map(reversalOf),
  }
}

/** The write as one durable transaction; a full or failing disk is an operating error. */
function durable<Args extends unknown[], Result>(db: Database, write: (...args: Args) => Result) {
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

/** Every write of the journal; must run inside a transaction. */
function prepareWrites(db: Database, read: TransactionReads, nowMs: () => number) {
  const sql = prepareStatements(db)

  const intent = (intentId: string, fingerprint: Hex, revert: string | null): void => {
    const { changes } = sql.intent.run(intentId, blobOf(fingerprint), revert, nowMs())
    assert(changes === 1, `intent ${intentId} is taken already, or for another call`)
  }
  const attempt = (from: Address, evmNonce: number, signed: Attempt): void => {
    const { hash, raw, gasLimit, maxFeePerGas } = signed
    const key = [blobOf(from), evmNonce] as const
    const cost = [gasLimit, maxFeePerGas, nowMs()] as const
    sql.attempt.run(...key, ...key, blobOf(hash), blobOf(raw), ...cost)
  }
  /** Reverses the recorded outcome, when there is one and it differs. */
  const reverse = (row: CarriedRow, now: Turned): Reversal[] => {
    const before = resultOf(row)
    if (before === undefined || before.status === now.status) return []
    const was = [before.status, before.revert ?? null, ...inclusionValues(before)] as const
    const is = [now.status, now.revert, ...inclusionValues(now)] as const
    const { lastInsertRowid } = sql.reversal.run(row.intent_id, ...was, ...is, nowMs())
    return read.reversal.all(lastInsertRowid).map(reversalOf)
  }
  return {
    intent,
    attempt,
    signed: ({ from, evmNonce, ...signed }: OpenTransaction, fingerprints: readonly Hex[]) => {
      const { intentIds, attempts } = signed
      assert(fingerprints.length === intentIds.length, `nonce ${evmNonce} lacks a fingerprint`)
      sql.transaction.run(blobOf(from), evmNonce)
      for (const [position, intentId] of intentIds.entries()) {
        const fingerprint = fingerprints[position]
        assert(fingerprint !== undefined, `intent ${intentId} has no fingerprint`)
        intent(intentId, fingerprint, null)
        sql.carried.run(blobOf(from), evmNonce, position, intentId)
      }
      crash('lane.in_commit')
      for (const one of attempts) attempt(from, evmNonce, one)
    },
    mined: (sender: Address, evmNonce: number, mined: MiningResult) => {
      const from = blobOf(sender)
      const carried = read.carried.all(from, evmNonce)
      const { outcomes } = mined
      assert(
        outcomes.length === carried.length,
        `nonce ${evmNonce} needs ${carried.length} outcomes`,
      )
      const { changes } = sql.mined.run(...inclusionValues(mined), from, evmNonce)
      assert(changes === 1, `no transaction ${evmNonce} of ${sender} to be mined`)
      return carried.flatMap((row, position) => {
        const outcome = outcomes[position]
        assert(outcome !== undefined, `intent ${row.intent_id} has no outcome`)
        const revert = outcome.status === 'reverted' ? outcome.revert : null
        sql.outcome.run(outcome.status, revert, from, evmNonce, position)
        return reverse(row, { ...mined, status: outcome.status, revert })
      })
    },
    final: forEach(sql.final),
    displaced: (sender: Address, evmNonce: number, by: Inclusion) => {
      const from = blobOf(sender)
      const carried = read.carried.all(from, evmNonce)
      sql.freed.run(from, evmNonce)
      const { changes } = sql.displaced.run(...inclusionValues(by), from, evmNonce)
      assert(changes === 1, `no open transaction ${evmNonce} of ${sender} to be displaced`)
      return carried.flatMap((row) => reverse(row, { ...by, status: 'displaced', revert: null }))
    },
    reopen: forEach(sql.reopen),
  }
}

const forEach =
  (statement: ReturnType<typeof prepareStatements>['final']) =>
  (from: Address, evmNonces: readonly number[]): void => {
    for (const evmNonce of evmNonces) statement.run(blobOf(from), evmNonce)
  }

/** A new outcome of an intent that had another one recorded. */
interface Turned extends Inclusion {
  readonly status: 'success' | 'reverted' | 'displaced'
  readonly revert: string | null
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

const inclusionValues = ({ hash, blockNumber, blockHash }: Inclusion) =>
  [blobOf(hash), blockNumber, blobOf(blockHash)] as const

type InclusionValues = [Buffer, bigint, Buffer]

function prepareStatements(db: Database) {
  return {
    /** A displaced intent belongs to no transaction, so that it may be recorded again for the same call. */
    intent: db.prepare<[string, Buffer, string | null, number]>(
      `INSERT INTO intents (intent_id, fingerprint, refused_revert, recorded_at_ms)
       VALUES (?, ?, ?, ?)
       ON CONFLICT (intent_id) DO UPDATE SET refused_revert = excluded.refused_revert
       WHERE fingerprint = excluded.fingerprint AND intents.refused_revert IS NULL AND NOT EXISTS (
         SELECT 1 FROM transaction_intents c
         WHERE c.intent_id = excluded.intent_id AND c.displaced = 0)`,
    ),
    transaction: db.prepare<[Buffer, number]>(
      `INSERT INTO transactions (sender, evm_nonce, status) VALUES (?, ?, 'open')`,
    ),
    carried: db.prepare<[Buffer, number, number, string]>(
      `INSERT INTO transaction_intents (sender, evm_nonce, position, intent_id)
       VALUES (?, ?, ?, ?)`,
    ),
    attempt: db.prepare<[Buffer, number, Buffer, number, Buffer, Buffer, bigint, bigint, number]>(
      `INSERT INTO attempts
         (sender, evm_nonce, attempt_no, hash, raw, gas_limit, max_fee_per_gas, signed_at_ms)
       VALUES (?, ?, (SELECT count(*) + 1 FROM attempts WHERE sender = ? AND evm_nonce = ?),
         ?, ?, ?, ?, ?)`,
    ),
    mined: db.prepare<[...InclusionValues, Buffer, number]>(
      `UPDATE transactions SET status = 'mined', mined_hash = ?, block_number = ?, block_hash = ?
       WHERE sender = ? AND evm_nonce = ? AND status <> 'displaced'`,
    ),
    outcome: db.prepare<[string, string | null, Buffer, number, number]>(
      `UPDATE transaction_intents SET outcome = ?, revert = ?
       WHERE sender = ? AND evm_nonce = ? AND position = ?`,
    ),
    final: db.prepare<[Buffer, number]>(
      `UPDATE transactions SET final = 1 WHERE sender = ? AND evm_nonce = ? AND status = 'mined'`,
    ),
    displaced: db.prepare<[...InclusionValues, Buffer, number]>(
      `UPDATE transactions
       SET status = 'displaced', final = 1, mined_hash = ?, block_number = ?, block_hash = ?
       WHERE sender = ? AND evm_nonce = ? AND status = 'open'`,
    ),
    freed: db.prepare<[Buffer, number]>(
      'UPDATE transaction_intents SET displaced = 1 WHERE sender = ? AND evm_nonce = ?',
    ),
    reopen: db.prepare<[Buffer, number]>(
      `UPDATE transactions SET status = 'open', final = 0
       WHERE sender = ? AND evm_nonce = ? AND status = 'mined'`,
    ),
    reversal: db.prepare<
      [
        ...[string, string, string | null, ...InclusionValues],
        ...[string, string | null, ...InclusionValues, number],
      ]
    >(
      `INSERT INTO reversals (intent_id,
         before_status, before_revert, before_hash, before_number, before_block,
         now_status, now_revert, now_hash, now_number, now_block, found_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  }
}
