import type { Database } from 'better-sqlite3'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { Attempt, Inclusion, JournalEntry, Reversal } from '../../core/transaction-journal.js'
import { blobOf } from '../row-values.js'
import { prepareClaims } from './claim-journal.js'
import { prepareTrim } from './trimmed-rows.js'
import { resultOf, reversalOf, type CarriedRow, type TransactionReads } from './transaction-rows.js'

type EntryOf<Kind extends JournalEntry['kind']> = Extract<JournalEntry, { readonly kind: Kind }>

/** Writes an entry into the tables and returns the outcomes that it reversed; must run inside a transaction. */
export type ApplyEntry = (entry: JournalEntry) => Reversal[]

/** The fold of a journal: the same entries give the same rows. */
export function prepareApply(db: Database, read: TransactionReads): ApplyEntry {
  const sql = prepareStatements(db)
  const sign = prepareSigning(sql)
  const settle = prepareOutcomes(sql, read)
  const claim = prepareClaims(db)
  const trim = prepareTrim(db)
  return (entry) => {
    switch (entry.kind) {
      case 'refused':
        sign.intent(entry.intentId, entry.fingerprint, entry.revert, entry.atMs)
        return NONE
      case 'signed':
        sign.transaction(entry)
        return NONE
      case 'attempt':
        sign.attempt(entry)
        return NONE
      case 'mined':
        return settle.mined(entry)
      case 'displaced':
        return settle.displaced(entry)
      case 'final':
        for (const evmNonce of entry.evmNonces) sql.final.run(blobOf(entry.from), evmNonce)
        return NONE
      case 'reopened':
        for (const evmNonce of entry.evmNonces) reopen(sql, entry.from, evmNonce)
        return NONE
      case 'foreign':
        sql.foreign.run(blobOf(entry.from), entry.evmNonce, ...inclusionValues(entry.by))
        return NONE
      case 'claimed':
      case 'declined':
        claim(entry)
        return NONE
      case 'trimmed':
        for (const evmNonce of entry.evmNonces) trim.transaction(entry.from, evmNonce)
        return NONE
      case 'emptied':
        for (const actionHash of entry.actionHashes) trim.declined(actionHash)
        return NONE
    }
  }
}

const NONE: Reversal[] = []

type EntryStatements = ReturnType<typeof prepareStatements>

/** What is written when something is signed, or refused instead. */
function prepareSigning(sql: EntryStatements) {
  const intent = (id: string, fingerprint: Hex, revert: string | null, atMs: number): void => {
    const { changes } = sql.intent.run(id, blobOf(fingerprint), revert, atMs)
    assert(changes === 1, `intent ${id} is taken already, or for another call`)
  }
  const attempt = ({ from, evmNonce, attempt: signed, atMs }: AttemptRecord): void => {
    const { hash, raw, gasLimit, maxFeePerGas } = signed
    const key = [blobOf(from), evmNonce] as const
    const cost = [gasLimit, maxFeePerGas, atMs] as const
    sql.attempt.run(...key, ...key, blobOf(hash), blobOf(raw), ...cost)
  }
  const transaction = (signed: EntryOf<'signed'>): void => {
    const { from, evmNonce, intents, atMs } = signed
    sql.transaction.run(blobOf(from), evmNonce)
    for (const [position, { intentId, fingerprint }] of intents.entries()) {
      intent(intentId, fingerprint, null, atMs)
      sql.carried.run(blobOf(from), evmNonce, position, intentId)
    }
    attempt(signed)
  }
  return { intent, attempt, transaction }
}

interface AttemptRecord {
  readonly from: Address
  readonly evmNonce: number
  readonly attempt: Attempt
  readonly atMs: number
}

/** An outcome of an intent that had another one recorded, before or after that. */
interface ChangedOutcome extends Inclusion {
  readonly status: 'success' | 'reverted' | 'displaced'
  /** Only of `reverted`. */
  readonly revert?: string
}

/** What is written when the chain shows what became of a transaction. */
function prepareOutcomes(sql: EntryStatements, read: TransactionReads) {
  /** Reverses the recorded outcome, when there is one and it differs. */
  const reverse = (row: CarriedRow, now: ChangedOutcome, atMs: number): Reversal[] => {
    const before = resultOf(row)
    if (before === undefined || before.status === now.status) return NONE
    const values = [...outcomeValues(before), ...outcomeValues(now)] as const
    const { lastInsertRowid } = sql.reversal.run(row.intent_id, ...values, atMs)
    return read.reversal.all(lastInsertRowid).map(reversalOf)
  }
  const mined = ({ from: sender, evmNonce, result, atMs }: EntryOf<'mined'>): Reversal[] => {
    const from = blobOf(sender)
    const carried = read.carried.all(from, evmNonce)
    const { outcomes, ...inclusion } = result
    assert(outcomes.length === carried.length, `nonce ${evmNonce} needs ${carried.length} outcomes`)
    const { changes } = sql.mined.run(...inclusionValues(inclusion), from, evmNonce)
    assert(changes === 1, `no transaction ${evmNonce} of ${sender} to be mined`)
    return carried.flatMap((row, position) => {
      const outcome = outcomes[position]
      assert(outcome !== undefined, `intent ${row.intent_id} has no outcome`)
      const revert = outcome.status === 'reverted' ? outcome.revert : null
      sql.outcome.run(outcome.status, revert, from, evmNonce, position)
      return reverse(row, { ...inclusion, ...outcome }, atMs)
    })
  }
  const displaced = ({ from: sender, evmNonce, by, atMs }: EntryOf<'displaced'>): Reversal[] => {
    const from = blobOf(sender)
    const carried = read.carried.all(from, evmNonce)
    sql.freed.run(from, evmNonce)
    const { changes } = sql.displaced.run(...inclusionValues(by), from, evmNonce)
    assert(changes === 1, `no open transaction ${evmNonce} of ${sender} to be displaced`)
    return carried.flatMap((row) => reverse(row, { ...by, status: 'displaced' }, atMs))
  }
  return { mined, displaced }
}

function reopen(sql: EntryStatements, from: Address, evmNonce: number): void {
  const key = [blobOf(from), evmNonce] as const
  const { changes } = sql.reopen.run(...key)
  assert(
    changes === 0 || sql.signed.get(...key) !== undefined,
    `the chain has lost transaction ${evmNonce} of ${from}, which was final, and signed so long ago that its signed bytes are trimmed`,
  )
}

const inclusionValues = ({ hash, blockNumber, blockHash }: Inclusion) =>
  [blobOf(hash), blockNumber, blobOf(blockHash)] as const

const outcomeValues = (outcome: ChangedOutcome) =>
  [outcome.status, outcome.revert ?? null, ...inclusionValues(outcome)] as const

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
    foreign: db.prepare<[Buffer, number, ...InclusionValues]>(
      `INSERT INTO transactions (sender, evm_nonce, status, mined_hash, block_number, block_hash, final)
       VALUES (?, ?, 'displaced', ?, ?, ?, 1)`,
    ),
    freed: db.prepare<[Buffer, number]>(
      'UPDATE transaction_intents SET displaced = 1 WHERE sender = ? AND evm_nonce = ?',
    ),
    reopen: db.prepare<[Buffer, number]>(
      `UPDATE transactions SET status = 'open', final = 0
       WHERE sender = ? AND evm_nonce = ? AND status = 'mined'`,
    ),
    signed: db.prepare<[Buffer, number]>(
      'SELECT 1 FROM attempts WHERE sender = ? AND evm_nonce = ? LIMIT 1',
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
