import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Hex } from '../../core/action.js'

/** The executor's journal as an outsider may read it at any time. */
export interface JournalReader {
  /** Whether these signed bytes are on disk. */
  hasRaw(raw: Hex): boolean
  /** Every signed form of every transaction, for each settlement that it carries, with its place in a batch. */
  attempts(): readonly {
    readonly intent: string
    readonly hash: Hex
    readonly position: number
  }[]
  /** Transactions whose outcome is not known. */
  open(): number
  /** Settlements whose outcome the chain has changed, with what is recorded of them now. */
  turned(): readonly Turned[]
  close(): void
}

export interface Turned {
  readonly intent: string
  readonly success: boolean
  /** The chain cannot change it any more. */
  readonly final: boolean
}

/** Opens the file with the first question; before the executor made it there is nothing in it. */
export function readJournal(path: string): JournalReader {
  let db: Database.Database | undefined
  const open = (): Database.Database | undefined => {
    if (db === undefined && existsSync(path)) db = new Database(path, { readonly: true })
    return db !== undefined && isMade(db) ? db : undefined
  }
  const bytes = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex')
  return {
    hasRaw: (raw) =>
      open()?.prepare('SELECT 1 FROM attempts WHERE raw = ?').get(bytes(raw)) !== undefined,
    attempts: () =>
      (open()
        ?.prepare(
          `SELECT i.intent_id AS intent, i.position, '0x' || lower(hex(a.hash)) AS hash
           FROM transaction_intents i JOIN attempts a USING (sender, evm_nonce)`,
        )
        .all() ?? []) as { intent: string; position: number; hash: Hex }[],
    open: () => Number(open()?.prepare(OPEN).pluck().get() ?? 0),
    turned: () =>
      ((open()?.prepare(TURNED).all() ?? []) as TurnedRow[]).map((row) => ({
        intent: row.intent,
        success: row.outcome === 'success',
        final: row.refused !== null || row.final === 1,
      })),
    close: () => db?.close(),
  }
}

interface TurnedRow {
  readonly intent: string
  readonly outcome: string | null
  readonly final: number | null
  readonly refused: string | null
}

const TURNED = `
  SELECT DISTINCT i.intent_id AS intent, c.outcome, t.final, i.refused_revert AS refused
  FROM reversals JOIN intents i USING (intent_id)
    LEFT JOIN transaction_intents c ON c.intent_id = i.intent_id AND c.displaced = 0
    LEFT JOIN transactions t USING (sender, evm_nonce)`

const OPEN = `SELECT count(*) FROM transactions WHERE status = 'open'`

/** The file is there before its tables are. */
const isMade = (db: Database.Database): boolean =>
  db.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'transaction_intents'`).get() !== undefined
