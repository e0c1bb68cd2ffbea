import type { Database } from 'better-sqlite3'
import { assert } from '../../core/assert.js'
import { exactNumber } from '../../core/decimal.js'
import type {
  Attempt,
  Inclusion,
  MinedTransaction,
  OpenTransaction,
  Reversal,
} from '../../core/transaction-journal.js'
import { hexOf } from '../row-values.js'

/** Columns of the mined attempt; null before one is mined. */
interface InclusionColumns {
  readonly mined_hash: Buffer | null
  readonly block_number: bigint | null
  readonly block_hash: Buffer | null
}

export interface TransactionRow extends InclusionColumns {
  readonly evm_nonce: bigint
  readonly status: 'open' | 'mined' | 'displaced'
}

export interface CarriedRow extends InclusionColumns {
  readonly position: bigint
  readonly intent_id: string
  readonly outcome: 'success' | 'reverted' | null
  readonly revert: string | null
}

export interface IntentRow extends InclusionColumns {
  readonly fingerprint: Buffer
  readonly refused_revert: string | null
  readonly sender: Buffer | null
  readonly evm_nonce: bigint | null
  readonly status: 'open' | 'mined' | null
  readonly outcome: 'success' | 'reverted' | null
  readonly revert: string | null
}

export interface AttemptRow {
  readonly hash: Buffer
  readonly raw: Buffer
  readonly gas_limit: bigint
  readonly max_fee_per_gas: bigint
}

export interface ReversalRow {
  readonly no: bigint
  readonly intent_id: string
  readonly before_status: 'success' | 'reverted'
  readonly before_revert: string | null
  readonly before_hash: Buffer
  readonly before_number: bigint
  readonly before_block: Buffer
  readonly now_status: 'success' | 'reverted' | 'displaced'
  readonly now_revert: string | null
  readonly now_hash: Buffer
  readonly now_number: bigint
  readonly now_block: Buffer
}

export type TransactionReads = ReturnType<typeof prepareTransactionReads>

/** Every query of the transaction journal. */
export function prepareTransactionReads(db: Database) {
  return {
    intent: db.prepare<[string], IntentRow>(
      `SELECT i.fingerprint, i.refused_revert, t.sender, t.evm_nonce, t.status,
         t.mined_hash, t.block_number, t.block_hash, c.outcome, c.revert
       FROM intents i
         LEFT JOIN transaction_intents c ON c.intent_id = i.intent_id AND c.displaced = 0
         LEFT JOIN transactions t USING (sender, evm_nonce)
       WHERE i.intent_id = ?`,
    ),
    attempts: db.prepare<[Buffer, number], AttemptRow>(
      `SELECT hash, raw, gas_limit, max_fee_per_gas FROM attempts
       WHERE sender = ? AND evm_nonce = ? ORDER BY attempt_no`,
    ),
    carried: db.prepare<[Buffer, number], CarriedRow>(
      `SELECT c.position, c.intent_id, c.outcome, c.revert, t.mined_hash, t.block_number, t.block_hash
       FROM transaction_intents c JOIN transactions t USING (sender, evm_nonce)
       WHERE c.sender = ? AND c.evm_nonce = ? ORDER BY c.position`,
    ),
    unsettled: db.prepare<[Buffer], TransactionRow>(
      `SELECT evm_nonce, status, mined_hash, block_number, block_hash FROM transactions
       WHERE sender = ? AND final = 0 ORDER BY evm_nonce`,
    ),
    unsettledIntents: db
      .prepare<[], string>(
        `SELECT c.intent_id FROM transactions t JOIN transaction_intents c USING (sender, evm_nonce)
         WHERE t.final = 0`,
      )
      .pluck(),
    signedAt: db
      .prepare<[string], bigint | null>(
        `SELECT min(a.signed_at_ms)
         FROM transaction_intents c JOIN attempts a USING (sender, evm_nonce)
         WHERE c.intent_id = ? AND c.displaced = 0`,
      )
      .pluck(),
    unsettledSenders: db
      .prepare<[], Buffer>('SELECT DISTINCT sender FROM transactions WHERE final = 0')
      .pluck(),
    claimedFrom: db.prepare<[Buffer, number], { readonly evm_nonce: bigint }>(
      'SELECT evm_nonce FROM transactions WHERE sender = ? AND evm_nonce >= ? ORDER BY evm_nonce',
    ),
    nextNonce: db.prepare<[Buffer], { readonly next: bigint }>(
      'SELECT coalesce(max(evm_nonce) + 1, 0) AS next FROM transactions WHERE sender = ?',
    ),
    reversals: db.prepare<[number, number], ReversalRow>(
      'SELECT * FROM reversals WHERE no > ? ORDER BY no LIMIT ?',
    ),
    reversal: db.prepare<[bigint | number], ReversalRow>('SELECT * FROM reversals WHERE no = ?'),
  }
}

export function attemptOf(row: AttemptRow): Attempt {
  const { hash, raw, gas_limit: gasLimit, max_fee_per_gas: maxFeePerGas } = row
  return { hash: hexOf(hash), raw: hexOf(raw), gasLimit, maxFeePerGas }
}

/** Undefined before an attempt is mined. */
export function inclusionOf(row: InclusionColumns): Inclusion | undefined {
  const { mined_hash: hash, block_number: blockNumber, block_hash: blockHash } = row
  if (hash === null || blockNumber === null || blockHash === null) return undefined
  return { hash: hexOf(hash), blockNumber, blockHash: hexOf(blockHash) }
}

/** The outcome recorded when the intent was last mined; undefined before. */
export function resultOf(
  row: Omit<CarriedRow, 'position' | 'intent_id'>,
): MinedTransaction | undefined {
  const inclusion = inclusionOf(row)
  if (row.outcome === null || inclusion === undefined) return undefined
  return withRevert({ ...inclusion, status: row.outcome }, row.revert)
}

export function reversalOf(row: ReversalRow): Reversal {
  const before = {
    status: row.before_status,
    hash: hexOf(row.before_hash),
    blockNumber: row.before_number,
    blockHash: hexOf(row.before_block),
  }
  return {
    no: exactNumber(row.no),
    intentId: row.intent_id,
    before: withRevert(before, row.before_revert),
    now: nowOf(row),
  }
}

function nowOf(row: ReversalRow) {
  const status = row.now_status
  if (status === 'displaced') return { status }
  const now = {
    status,
    hash: hexOf(row.now_hash),
    blockNumber: row.now_number,
    blockHash: hexOf(row.now_block),
  }
  return withRevert(now, row.now_revert)
}

function withRevert(result: MinedTransaction, revert: string | null): MinedTransaction {
  return revert === null ? result : { ...result, revert }
}

/** The signed transaction of a row; asserts that the signed bytes exist. */
export function assertSigned(transaction: OpenTransaction): OpenTransaction {
  const { from, evmNonce, attempts } = transaction
  assert(attempts.length > 0, `transaction ${evmNonce} of ${from} has no signed bytes`)
  return transaction
}
