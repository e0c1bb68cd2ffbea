import Sqlite from 'better-sqlite3'
import { readdirSync, readFileSync } from 'node:fs'
import type { ClaimJournal, TransactionJournal } from '../../core/transaction-journal.js'
import type { Hex } from '../../core/action.js'
import { JOURNAL_MIGRATIONS } from '../../data/journal/journal-file.js'
import { createClaimJournal } from '../../data/journal/claim-journal.js'
import { createTransactionJournal, writeAlone } from '../../data/journal/transaction-journal.js'

export interface MemoryJournal extends TransactionJournal {
  readonly claims: ClaimJournal
  /** Whether signed bytes of that hash are recorded. */
  readonly holds: (hash: Hex) => boolean
  /** Loses what was recorded of a nonce, as a file restored from a copy does. */
  readonly lose: (evmNonce: number) => void
  readonly close: () => void
}

const MIGRATIONS = readdirSync(JOURNAL_MIGRATIONS)
  .sort()
  .map((name) => readFileSync(new URL(name, JOURNAL_MIGRATIONS), 'utf8'))

/** A journal of transactions that lives as long as the test. */
export function openMemoryJournal(): MemoryJournal {
  const db = new Sqlite(':memory:')
  db.defaultSafeIntegers(true)
  db.pragma('foreign_keys = ON')
  for (const sql of MIGRATIONS) db.exec(sql)
  const alone = writeAlone(db)
  const held = db.prepare('SELECT 1 FROM attempts WHERE hash = ?')
  const blob = (hash: Hex) => Buffer.from(hash.slice(2), 'hex')
  return {
    ...createTransactionJournal(db, () => 0, alone),
    claims: createClaimJournal(db, alone, () => 0),
    holds: (hash) => held.get(blob(hash)) !== undefined,
    lose(evmNonce) {
      for (const table of ['attempts', 'transaction_intents', 'transactions']) {
        db.prepare(`DELETE FROM ${table} WHERE evm_nonce = ?`).run(evmNonce)
      }
    },
    close: () => db.close(),
  }
}
