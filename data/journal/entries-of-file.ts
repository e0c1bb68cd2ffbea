import type { Database } from 'better-sqlite3'
import { exactNumber } from '../../core/decimal.js'
import type { Inclusion, IntentOutcome, JournalEntry } from '../../core/transaction-journal.js'
import { assert } from '../../core/assert.js'
import { hexOf } from '../row-values.js'
import { attemptOf, inclusionOf, type ReversalRow } from './transaction-rows.js'

/**
 * Entries that give the rows of a journal's file, in the order of the nonces: for a file of which no stream holds the
 * entries. Reversals come last and verbatim, because an outcome that was replaced is in no other row.
 */
export function* entriesOfFile(db: Database): Generator<JournalEntry> {
  const sql = prepareReads(db)
  for (const row of sql.transactions.all()) yield* entriesOfTransaction(sql, row)
  for (const row of sql.refused.all()) {
    const { intent_id: intentId, fingerprint, refused_revert: revert, recorded_at_ms } = row
    const atMs = exactNumber(recorded_at_ms)
    yield { kind: 'refused', intentId, fingerprint: hexOf(fingerprint), revert, atMs }
  }
  for (const row of sql.reversals.all()) {
    const { intent_id: intentId, found_at_ms } = row
    const before = changed(row.before_status, row.before_revert, {
      hash: hexOf(row.before_hash),
      blockNumber: row.before_number,
      blockHash: hexOf(row.before_block),
    })
    const now = changed(row.now_status, row.now_revert, {
      hash: hexOf(row.now_hash),
      blockNumber: row.now_number,
      blockHash: hexOf(row.now_block),
    })
    yield { kind: 'reversed', intentId, before, now, atMs: exactNumber(found_at_ms) }
  }
}

const changed = <Status extends string>(
  status: Status,
  revert: string | null,
  inclusion: Inclusion,
) => ({ ...inclusion, status, ...(revert !== null && { revert }) })

function* entriesOfTransaction(sql: Reads, row: TransactionColumns): Generator<JournalEntry> {
  const of = { from: hexOf(row.sender), evmNonce: exactNumber(row.evm_nonce) }
  const carried = sql.carried.all(row.sender, row.evm_nonce)
  const intents = carried.map(({ intent_id: intentId, fingerprint }) => {
    return { intentId, fingerprint: hexOf(fingerprint) }
  })
  const [first, ...later] = sql.attempts.all(row.sender, row.evm_nonce)
  const inclusion = inclusionOf(row)
  if (first === undefined && row.status === 'displaced' && inclusion !== undefined) {
    yield { kind: 'foreign', ...of, by: inclusion }
    return
  }
  assert(first !== undefined, `nonce ${of.evmNonce} has no signed bytes`)
  const atMs = exactNumber(first.signed_at_ms)
  yield { kind: 'signed', ...of, intents, attempt: attemptOf(first), atMs }
  for (const each of later) {
    const attempt = attemptOf(each)
    yield { kind: 'attempt', ...of, attempt, atMs: exactNumber(each.signed_at_ms) }
  }
  if (inclusion === undefined) return
  const outcomes = carried.flatMap(outcomeOf)
  // A transaction without intents, and one that was mined before it was displaced, too.
  if (outcomes.length === carried.length && row.status !== 'displaced') {
    yield { kind: 'mined', ...of, result: { ...inclusion, outcomes }, atMs }
  }
  if (row.status === 'displaced') yield { kind: 'displaced', ...of, by: inclusion, atMs }
  else if (row.status === 'open')
    yield { kind: 'reopened', from: of.from, evmNonces: [of.evmNonce] }
  else if (row.final === 1n) yield { kind: 'final', from: of.from, evmNonces: [of.evmNonce] }
}

function outcomeOf({ outcome, revert }: CarriedColumns): IntentOutcome[] {
  if (outcome === null) return []
  return [outcome === 'success' ? { status: outcome } : { status: outcome, revert: revert ?? '' }]
}

interface TransactionColumns {
  readonly sender: Buffer
  readonly evm_nonce: bigint
  readonly status: 'open' | 'mined' | 'displaced'
  readonly mined_hash: Buffer | null
  readonly block_number: bigint | null
  readonly block_hash: Buffer | null
  readonly final: bigint
}

interface CarriedColumns {
  readonly intent_id: string
  readonly fingerprint: Buffer
  readonly outcome: 'success' | 'reverted' | null
  readonly revert: string | null
}

interface AttemptColumns {
  readonly hash: Buffer
  readonly raw: Buffer
  readonly gas_limit: bigint
  readonly max_fee_per_gas: bigint
  readonly signed_at_ms: bigint
}

interface RefusedColumns {
  readonly intent_id: string
  readonly fingerprint: Buffer
  readonly refused_revert: string
  readonly recorded_at_ms: bigint
}

interface ReversalColumns extends ReversalRow {
  readonly found_at_ms: bigint
}

type Reads = ReturnType<typeof prepareReads>

function prepareReads(db: Database) {
  return {
    transactions: db.prepare<[], TransactionColumns>(
      // One key after the other: an intent that the first could not carry out may have gone to the second.
      `SELECT t.* FROM transactions t LEFT JOIN (
         SELECT sender, min(signed_at_ms) AS first_ms FROM attempts GROUP BY sender
       ) s USING (sender) ORDER BY s.first_ms, sender, evm_nonce`,
    ),
    carried: db.prepare<[Buffer, bigint], CarriedColumns>(
      `SELECT c.intent_id, i.fingerprint, c.outcome, c.revert
       FROM transaction_intents c JOIN intents i USING (intent_id)
       WHERE sender = ? AND evm_nonce = ? ORDER BY position`,
    ),
    attempts: db.prepare<[Buffer, bigint], AttemptColumns>(
      'SELECT * FROM attempts WHERE sender = ? AND evm_nonce = ? ORDER BY attempt_no',
    ),
    refused: db.prepare<[], RefusedColumns>(
      'SELECT * FROM intents WHERE refused_revert IS NOT NULL ORDER BY rowid',
    ),
    reversals: db.prepare<[], ReversalColumns>('SELECT * FROM reversals ORDER BY no'),
  }
}
