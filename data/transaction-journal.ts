import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { exactNumber } from '../core/decimal.js'
import { blobOf, hexOf } from './bytes.js'

/** Schema of executor.db: the journal of signed transactions. */
export const JOURNAL_MIGRATIONS = new URL('../../data/migrations/executor/', import.meta.url)

/** The journal's disk refused a write, so nothing may be broadcast. */
export class JournalUnwritable extends Error {
  override readonly name = 'JournalUnwritable'
}

export interface JournaledAttempt {
  readonly hash: Hex
  readonly raw: Hex
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
}

export interface JournaledTransaction {
  readonly intentId: string
  readonly from: Address
  readonly evmNonce: number
  readonly attempts: readonly JournaledAttempt[]
}

export interface JournaledResult {
  readonly status: 'success' | 'reverted'
  readonly hash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly revert?: string
}

interface IntentRow {
  readonly intent_id: string
  readonly fingerprint: Buffer
  readonly refused_revert: string | null
  readonly sender: Buffer | null
  readonly evm_nonce: bigint | null
  readonly status: 'open' | 'success' | 'reverted' | null
  readonly mined_hash: Buffer | null
  readonly block_number: bigint | null
  readonly block_hash: Buffer | null
  readonly revert: string | null
}

interface AttemptRow {
  readonly intent_id: string
  readonly evm_nonce: bigint
  readonly hash: Buffer
  readonly raw: Buffer
  readonly gas_limit: bigint
  readonly max_fee_per_gas: bigint
}

/**
 * The journal that chain/transaction-journal.ts asks for, in a database opened with synchronous FULL: what a method has
 * recorded survives a power cut. Throws JournalUnwritable when the disk refuses; a nonce or intent that is already
 * taken throws as well, and is a broken invariant of the caller.
 */
export function createTransactionJournal(db: Database, nowMs: () => number = Date.now) {
  const write = prepareWrites(db)
  const read = prepareReads(db)

  const writeSigned = db.transaction((intent: JournaledTransaction, fingerprint: Hex) => {
    const key = [blobOf(intent.from), intent.evmNonce] as const
    write.intent.run(intent.intentId, blobOf(fingerprint), null, nowMs())
    write.transaction.run(...key, intent.intentId)
    for (const [index, { hash, raw, gasLimit, maxFeePerGas }] of intent.attempts.entries()) {
      const cost = [gasLimit, maxFeePerGas] as const
      write.attempt.run(...key, index + 1, blobOf(hash), blobOf(raw), ...cost, nowMs())
    }
  })

  return {
    find(intentId: string) {
      const row = read.intent.get(intentId)
      if (row === undefined) return undefined
      return { fingerprint: hexOf(row.fingerprint), state: stateOf(row, read.attemptsOf) }
    },
    recordRefusal(intentId: string, fingerprint: Hex, revert: string): void {
      written(() => write.intent.run(intentId, blobOf(fingerprint), revert, nowMs()))
    },
    recordSigned(intent: JournaledTransaction, fingerprint: Hex): void {
      written(() => writeSigned.immediate(intent, fingerprint))
    },
    recordMined(from: Address, evmNonce: number, mined: JournaledResult): void {
      const { status, hash, blockNumber, blockHash, revert = null } = mined
      const result = [status, blobOf(hash), blockNumber, blobOf(blockHash), revert] as const
      const { changes } = written(() => write.mined.run(...result, blobOf(from), evmNonce))
      assert(changes === 1, `no transaction ${evmNonce} of ${from} in the journal`)
    },
    nextNonce(from: Address): number {
      return exactNumber(read.nextNonce.get(blobOf(from))?.next ?? 0n)
    },
    openTransactions(from: Address): JournaledTransaction[] {
      return groupAttempts(from, read.openAttempts.all(blobOf(from)))
    },
    reopenFrom(from: Address, evmNonce: number): number {
      return written(() => write.reopen.run(blobOf(from), evmNonce)).changes
    },
  }
}

function prepareWrites(db: Database) {
  return {
    intent: db.prepare<[string, Buffer, string | null, number]>(
      'INSERT INTO intents (intent_id, fingerprint, refused_revert, recorded_at_ms) VALUES (?, ?, ?, ?)',
    ),
    transaction: db.prepare<[Buffer, number, string]>(
      `INSERT INTO transactions (sender, evm_nonce, intent_id, status) VALUES (?, ?, ?, 'open')`,
    ),
    attempt: db.prepare<[Buffer, number, number, Buffer, Buffer, bigint, bigint, number]>(
      `INSERT INTO attempts
         (sender, evm_nonce, attempt_no, hash, raw, gas_limit, max_fee_per_gas, signed_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    mined: db.prepare<[string, Buffer, bigint, Buffer, string | null, Buffer, number]>(
      `UPDATE transactions
       SET status = ?, mined_hash = ?, block_number = ?, block_hash = ?, revert = ?
       WHERE sender = ? AND evm_nonce = ?`,
    ),
    reopen: db.prepare<[Buffer, number]>(
      `UPDATE transactions
       SET status = 'open', mined_hash = NULL, block_number = NULL, block_hash = NULL, revert = NULL
       WHERE sender = ? AND evm_nonce >= ? AND status <> 'open'`,
    ),
  }
}

function prepareReads(db: Database) {
  const attempts = `
    SELECT t.intent_id, t.evm_nonce, a.hash, a.raw, a.gas_limit, a.max_fee_per_gas
    FROM transactions t JOIN attempts a USING (sender, evm_nonce)`
  return {
    intent: db.prepare<[string], IntentRow>(
      `SELECT i.intent_id, i.fingerprint, i.refused_revert, t.sender, t.evm_nonce, t.status,
         t.mined_hash, t.block_number, t.block_hash, t.revert
       FROM intents i LEFT JOIN transactions t USING (intent_id) WHERE i.intent_id = ?`,
    ),
    attemptsOf: db.prepare<[string], AttemptRow>(
      `${attempts} WHERE t.intent_id = ? ORDER BY a.attempt_no`,
    ),
    openAttempts: db.prepare<[Buffer], AttemptRow>(
      `${attempts} WHERE t.sender = ? AND t.status = 'open' ORDER BY t.evm_nonce, a.attempt_no`,
    ),
    nextNonce: db.prepare<[Buffer], { next: bigint }>(
      'SELECT coalesce(max(evm_nonce) + 1, 0) AS next FROM transactions WHERE sender = ?',
    ),
  }
}

function stateOf(row: IntentRow, attempts: { all(intentId: string): AttemptRow[] }) {
  if (row.refused_revert !== null) return { kind: 'refused', revert: row.refused_revert } as const
  assert(row.sender !== null && row.status !== null, `intent ${row.intent_id} has no transaction`)
  if (row.status === 'open') {
    const [transaction] = groupAttempts(hexOf(row.sender), attempts.all(row.intent_id))
    assert(transaction !== undefined, `intent ${row.intent_id} has no signed bytes`)
    return { kind: 'open', transaction } as const
  }
  return { kind: 'mined', transaction: resultOf(row, row.status) } as const
}

function resultOf(row: IntentRow, status: 'success' | 'reverted'): JournaledResult {
  const { mined_hash: hash, block_number: blockNumber, block_hash: blockHash, revert } = row
  assert(hash && blockNumber !== null && blockHash, `intent ${row.intent_id} has half a result`)
  const mined = { status, hash: hexOf(hash), blockNumber, blockHash: hexOf(blockHash) }
  return revert === null ? mined : { ...mined, revert }
}

function groupAttempts(from: Address, rows: readonly AttemptRow[]): JournaledTransaction[] {
  const byNonce = new Map<bigint, { intentId: string; attempts: JournaledAttempt[] }>()
  for (const row of rows) {
    const group = byNonce.get(row.evm_nonce) ?? { intentId: row.intent_id, attempts: [] }
    group.attempts.push({
      hash: hexOf(row.hash),
      raw: hexOf(row.raw),
      gasLimit: row.gas_limit,
      maxFeePerGas: row.max_fee_per_gas,
    })
    byNonce.set(row.evm_nonce, group)
  }
  return [...byNonce].map(([nonce, group]) => ({ from, evmNonce: exactNumber(nonce), ...group }))
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
