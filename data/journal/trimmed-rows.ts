import type { Database } from 'better-sqlite3'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { exactNumber } from '../../core/decimal.js'
import type { JournalEntry } from '../../core/transaction-journal.js'
import { actionHashOf } from '../../core/transfer.js'
import { blobOf, hexOf } from '../row-values.js'

/** What of a journal's rows is trimmed: signed bytes and requests, which are nearly all of its size. */

/** Most transactions, or transfers, of one entry: a step of some milliseconds. */
const AT_ONCE = 256

/** Drops signed bytes and requests; must run inside a transaction. */
export function prepareTrim(db: Database) {
  const isFinal = db.prepare<[Buffer, number]>(
    'SELECT 1 FROM transactions WHERE sender = ? AND evm_nonce = ? AND final = 1',
  )
  const drop = db.prepare<[Buffer, number]>(
    'DELETE FROM attempts WHERE sender = ? AND evm_nonce = ?',
  )
  const carried = db
    .prepare<[Buffer, number], string>(
      `SELECT intent_id FROM transaction_intents
       WHERE sender = ? AND evm_nonce = ? AND displaced = 0`,
    )
    .pluck()
  const empty = db.prepare<[Buffer]>(`UPDATE claims SET request = '' WHERE action_hash = ?`)
  const declined = db.prepare<[Buffer]>(
    `UPDATE claims SET request = '' WHERE action_hash = ? AND declined IS NOT NULL`,
  )
  return {
    transaction(from: Address, evmNonce: number): void {
      const key = [blobOf(from), evmNonce] as const
      assert(isFinal.get(...key) !== undefined, `transaction ${evmNonce} of ${from} is not final`)
      drop.run(...key)
      for (const intentId of carried.all(...key)) {
        const actionHash = actionHashOf('deposit', intentId) ?? actionHashOf('withdrawal', intentId)
        if (actionHash !== undefined) empty.run(blobOf(actionHash))
      }
    },
    declined(actionHash: Hex): void {
      const { changes } = declined.run(blobOf(actionHash))
      assert(changes === 1, `${actionHash} is not given up`)
    },
  }
}

/**
 * The entries that trim what is final, or was given up, and is older than `beforeMs` (unix milliseconds). Each has to be recorded
 * before the next is asked for. A transaction is as old as its newest signed form.
 */
export function* trimEntries(db: Database, beforeMs: number): Generator<JournalEntry> {
  // One search a sender: DISTINCT would read every signed form.
  const senders = db
    .prepare<[], Buffer>(
      `WITH RECURSIVE each (sender) AS (
         SELECT min(sender) FROM attempts
         UNION ALL
         SELECT (SELECT min(sender) FROM attempts WHERE sender > each.sender)
         FROM each WHERE each.sender IS NOT NULL)
       SELECT sender FROM each WHERE sender IS NOT NULL`,
    )
    .pluck()
  const signed = db.prepare<[Buffer], SignedRow>(
    `SELECT a.evm_nonce, min(a.signed_at_ms) AS first_ms, max(a.signed_at_ms) AS last_ms, t.final
     FROM attempts a JOIN transactions t USING (sender, evm_nonce)
     WHERE a.sender = ? GROUP BY a.evm_nonce ORDER BY a.evm_nonce`,
  )
  const declined = db
    .prepare<[number, number], Buffer>(
      `SELECT action_hash FROM claims
       WHERE declined_at_ms < ? AND request <> '' ORDER BY no LIMIT ?`,
    )
    .pluck()
  /** Nonces are first signed in the order of time. A gap that is filled later is the exception: it delays those behind it. */
  function finalOf(sender: Buffer): number[] {
    const found: number[] = []
    for (const row of signed.iterate(sender)) {
      if (exactNumber(row.first_ms) >= beforeMs || found.length === AT_ONCE) break
      if (row.final === 1n && exactNumber(row.last_ms) < beforeMs)
        found.push(exactNumber(row.evm_nonce))
    }
    return found
  }
  for (const sender of senders.all()) {
    for (let found = finalOf(sender); found.length > 0; found = finalOf(sender))
      yield { kind: 'trimmed', from: hexOf(sender), evmNonces: found }
  }
  const given = () => declined.all(beforeMs, AT_ONCE).map(hexOf)
  for (let found = given(); found.length > 0; found = given())
    yield { kind: 'emptied', actionHashes: found }
}

interface SignedRow {
  readonly evm_nonce: bigint
  readonly first_ms: bigint
  readonly last_ms: bigint
  readonly final: bigint
}
