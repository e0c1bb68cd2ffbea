import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Hex } from '../../core/action.js'

/** The executor's journal as an outsider may read it at any time. */
export interface JournalReader {
  /** Whether these signed bytes are on disk. */
  hasRaw(raw: Hex): boolean
  /** Settlement id and status of each signed transaction. */
  transactions(): readonly { readonly intent: string; readonly hash: Hex; readonly status: string }[]
  close(): void
}

/** Opens the file with the first question; before the executor made it there is nothing in it. */
export function readJournal(path: string): JournalReader {
  let db: Database.Database | undefined
  const open = (): Database.Database | undefined => {
    if (db === undefined && existsSync(path)) db = new Database(path, { readonly: true })
    return db
  }
  const bytes = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex')
  return {
    hasRaw: (raw) =>
      open()?.prepare('SELECT 1 FROM attempts WHERE raw = ?').get(bytes(raw)) !== undefined,
    transactions: () =>
      (open()
        ?.prepare(
          `SELECT t.intent_id AS intent, '0x' || lower(hex(a.hash)) AS hash, t.status AS status
           FROM transactions t JOIN attempts a USING (sender, evm_nonce)`,
        )
        .all() ?? []) as { intent: string; hash: Hex; status: string }[],
    close: () => db?.close(),
  }
}
