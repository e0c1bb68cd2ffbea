import type { Database } from 'better-sqlite3'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { crash } from '../core/crash-point.js'
import { blobOf } from './bytes.js'
import type {
  JournaledAttempt,
  JournaledInclusion,
  JournaledOutcome,
  JournaledResult,
  JournaledTransaction,
} from './transaction-rows.js'

/** One intent's place in a transaction. */
interface Place {
  readonly from: Buffer
  readonly evmNonce: number
  readonly position: number
}

/** What an intent came to, where it was recorded otherwise before. */
interface Turned extends JournaledInclusion {
  readonly status: 'success' | 'reverted' | 'displaced'
  readonly revert: string | null
}

/** Every change that the journal of transactions makes to its file; several rows of one change are one transaction. */
export function prepareTransactionWrites(db: Database, nowMs: () => number) {
  const sql = prepareStatements(db)

  const intent = (intentId: string, fingerprint: Hex, revert: string | null): void => {
    const row = [intentId, blobOf(fingerprint), revert, nowMs()] as const
    const { changes } = sql.intent.run(...row)
    assert(changes === 1, `intent ${intentId} is taken already, or for another call`)
  }
  const signed = db.transaction((transaction: JournaledTransaction, prints: readonly Hex[]) => {
    const { evmNonce, intentIds, attempts } = transaction
    const from = blobOf(transaction.from)
    assert(prints.length === intentIds.length, `nonce ${evmNonce} needs one fingerprint per intent`)
    sql.transaction.run(from, evmNonce)
    for (const [position, intentId] of intentIds.entries()) {
      const fingerprint = prints[position]
      assert(fingerprint !== undefined, `intent ${intentId} has no fingerprint`)
      intent(intentId, fingerprint, null)
      sql.carried.run(from, evmNonce, position, intentId)
    }
    crash('lane.in_commit')
    for (const one of attempts) attempt(transaction.from, evmNonce, one)
  })
  const attempt = (from: Address, evmNonce: number, one: JournaledAttempt): void => {
    const { hash, raw, gasLimit, maxFeePerGas } = one
    const cost = [gasLimit, maxFeePerGas, nowMs()] as const
    const key = [blobOf(from), evmNonce] as const
    sql.attempt.run(...key, ...key, blobOf(hash), blobOf(raw), ...cost)
  }
  const each = (statement: typeof sql.final) =>
    db.transaction((from: Address, evmNonces: readonly number[]) => {
      for (const evmNonce of evmNonces) statement.run(blobOf(from), evmNonce)
    })
  const final = each(sql.final)
  const reopen = each(sql.reopen)

  return {
    refusal: intent,
    signed: (transaction: JournaledTransaction, prints: readonly Hex[]) =>
      signed.immediate(transaction, prints),
    attempt,
    mined: (from: Buffer, evmNonce: number, by: JournaledInclusion) =>
      sql.mined.run(...inclusionValues(by), from, evmNonce).changes,
    outcome: ({ from, evmNonce, position }: Place, outcome: JournaledOutcome) => {
      const revert = outcome.status === 'reverted' ? outcome.revert : null
      sql.outcome.run(outcome.status, revert, from, evmNonce, position)
    },
    final: (from: Address, evmNonces: readonly number[]) => final.immediate(from, evmNonces),
    displaced: (from: Buffer, evmNonce: number, by: JournaledInclusion) => {
      sql.freed.run(from, evmNonce)
      return sql.displaced.run(...inclusionValues(by), from, evmNonce).changes
    },
    reopen: (from: Address, evmNonces: readonly number[]) => reopen.immediate(from, evmNonces),
    /** Answers its number. */
    reversal: (intentId: string, before: JournaledResult, now: Turned) => {
      const was = [before.status, before.revert ?? null, ...inclusionValues(before)] as const
      const is = [now.status, now.revert, ...inclusionValues(now)] as const
      return sql.reversal.run(intentId, ...was, ...is, nowMs()).lastInsertRowid
    },
  }
}

const inclusionValues = ({ hash, blockNumber, blockHash }: JournaledInclusion) =>
  [blobOf(hash), blockNumber, blobOf(blockHash)] as const

type InclusionValues = [Buffer, bigint, Buffer]

function prepareStatements(db: Database) {
  return {
    /** An intent that was displaced, and so stands nowhere, may be recorded again for the same call. */
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
