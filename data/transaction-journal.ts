import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { exactNumber } from '../core/decimal.js'
import { blobOf, hexOf } from './bytes.js'
import {
  assertSigned,
  attemptOf,
  inclusionOf,
  prepareTransactionReads,
  resultOf,
  reversalOf,
} from './transaction-rows.js'
import type {
  CarriedRow,
  IntentRow,
  JournaledAttempt,
  JournaledInclusion,
  JournaledMining,
  JournaledTransaction,
  TransactionReads,
} from './transaction-rows.js'
import { prepareTransactionWrites } from './transaction-writes.js'

/** Schema of executor.db: the journal of signed transactions. */
export const JOURNAL_MIGRATIONS = new URL('../../data/migrations/executor/', import.meta.url)

/** The journal's disk refused a write, so nothing may be broadcast. */
export class JournalUnwritable extends Error {
  override readonly name = 'JournalUnwritable'
}

interface Statements {
  readonly read: TransactionReads
  readonly write: ReturnType<typeof prepareTransactionWrites>
}

/**
 * The journal that chain/transaction-journal.ts asks for, in a database opened with synchronous FULL: what a method has
 * recorded survives a power cut. Throws JournalUnwritable when the disk refuses; a nonce or intent that is already
 * taken throws as well, and is a broken invariant of the caller.
 */
export function createTransactionJournal(db: Database, nowMs: () => number = Date.now) {
  const write = prepareTransactionWrites(db, nowMs)
  const read = prepareTransactionReads(db)
  const { writeMined, writeDisplaced } = prepareResults(db, { read, write })

  return {
    find(intentId: string) {
      const row = read.intent.get(intentId)
      if (row === undefined) return undefined
      return { fingerprint: hexOf(row.fingerprint), state: stateOf(read, row) }
    },
    recordRefusal(intentId: string, fingerprint: Hex, revert: string): void {
      written(() => write.refusal(intentId, fingerprint, revert))
    },
    recordSigned(transaction: JournaledTransaction, fingerprints: readonly Hex[]): void {
      written(() => write.signed(transaction, fingerprints))
    },
    recordAttempt(from: Address, evmNonce: number, attempt: JournaledAttempt): void {
      written(() => write.attempt(from, evmNonce, attempt))
    },
    recordMined(from: Address, evmNonce: number, mined: JournaledMining) {
      return written(() => writeMined.immediate(blobOf(from), evmNonce, mined))
    },
    recordFinal(from: Address, evmNonces: readonly number[]): void {
      written(() => write.final(from, evmNonces))
    },
    recordDisplaced(from: Address, evmNonce: number, by: JournaledInclusion) {
      return written(() => writeDisplaced.immediate(blobOf(from), evmNonce, by))
    },
    nextNonce(from: Address): number {
      return exactNumber(read.nextNonce.get(blobOf(from))?.next ?? 0n)
    },
    claimedFrom(from: Address, evmNonce: number): number[] {
      const rows = read.claimedFrom.all(blobOf(from), evmNonce)
      return rows.map((row) => exactNumber(row.evm_nonce))
    },
    unsettledTransactions(from: Address) {
      return read.unsettled.all(blobOf(from)).map((row) => {
        const transaction = transactionOf(read, from, exactNumber(row.evm_nonce))
        const mined = row.status === 'open' ? undefined : inclusionOf(row)
        return mined === undefined ? { transaction } : { transaction, mined }
      })
    },
    reopen(from: Address, evmNonces: readonly number[]): void {
      written(() => write.reopen(from, evmNonces))
    },
    reversalsAfter(no: number, limit: number) {
      return read.reversals.all(no, limit).map(reversalOf)
    },
  }
}

/** Results are written together with what they turned round, and answer that. */
function prepareResults(db: Database, { read, write }: Statements) {
  const writeMined = db.transaction((from: Buffer, evmNonce: number, mined: JournaledMining) => {
    const carried = read.carried.all(from, evmNonce)
    const { outcomes } = mined
    assert(outcomes.length === carried.length, `nonce ${evmNonce} needs ${carried.length} outcomes`)
    const changes = write.mined(from, evmNonce, mined)
    assert(changes === 1, `no transaction ${evmNonce} of ${hexOf(from)} to be mined`)
    const numbers = carried.map((row, position) => {
      const outcome = outcomes[position]
      assert(outcome !== undefined, `intent ${row.intent_id} has no outcome`)
      write.outcome({ from, evmNonce, position }, outcome)
      const revert = outcome.status === 'reverted' ? outcome.revert : null
      return reverse(row, { ...mined, status: outcome.status, revert })
    })
    return told(numbers)
  })

  const writeDisplaced = db.transaction(
    (from: Buffer, evmNonce: number, by: JournaledInclusion) => {
      const carried = read.carried.all(from, evmNonce)
      const changes = write.displaced(from, evmNonce, by)
      assert(changes === 1, `no open transaction ${evmNonce} of ${hexOf(from)} to be displaced`)
      const now = { ...by, status: 'displaced', revert: null } as const
      return told(carried.map((row) => reverse(row, now)))
    },
  )

  /** Answers the reversal's number when what was recorded before is not what is true now. */
  function reverse(row: CarriedRow, now: Parameters<typeof write.reversal>[2]) {
    const before = resultOf(row)
    if (before === undefined || before.status === now.status) return undefined
    return write.reversal(row.intent_id, before, now)
  }

  function told(numbers: readonly (bigint | number | undefined)[]) {
    return numbers.flatMap((no) => {
      const row = no === undefined ? undefined : read.reversal.get(no)
      return row === undefined ? [] : [reversalOf(row)]
    })
  }

  return { writeMined, writeDisplaced }
}

function stateOf(read: TransactionReads, row: IntentRow) {
  if (row.refused_revert !== null) return { kind: 'refused', revert: row.refused_revert } as const
  if (row.sender === null || row.evm_nonce === null) return { kind: 'displaced' } as const
  const evmNonce = exactNumber(row.evm_nonce)
  if (row.status === 'open') {
    return { kind: 'open', transaction: transactionOf(read, hexOf(row.sender), evmNonce) } as const
  }
  const transaction = resultOf(row)
  assert(transaction !== undefined, `transaction ${evmNonce} has half a result`)
  return { kind: 'mined', transaction } as const
}

function transactionOf(read: TransactionReads, from: Address, evmNonce: number) {
  const attempts = read.attempts.all(blobOf(from), evmNonce).map(attemptOf)
  const intentIds = read.carried.all(blobOf(from), evmNonce).map((row) => row.intent_id)
  return assertSigned({ from, evmNonce, intentIds, attempts })
}

/** Runs a write; a full or failing disk is an operating error, anything else is thrown as it is. */
function written<Result>(write: () => Result): Result {
  try {
    return write()
  } catch (error) {
    const disk =
      error instanceof Sqlite.SqliteError && /^SQLITE_(FULL|IOERR|BUSY|READONLY)/.test(error.code)
    if (disk) throw new JournalUnwritable('the journal could not be written', { cause: error })
    throw error
  }
}
