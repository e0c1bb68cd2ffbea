import type { Address, Hex } from '../../core/action.js'
import { exactNumber } from '../../core/decimal.js'
import { hexOf } from '../row-values.js'
import { JOURNAL_FILES, openJournalFile } from './journal-file.js'
import { createTransactionJournal } from './transaction-journal.js'
import { databasePath, isThere } from '../places.js'

/** State of a settlement in the journal. */
export interface JournaledSettlement {
  /** `open`: no receipt is known. */
  readonly status: 'open' | 'success' | 'reverted' | 'refused'
  /** Of every transaction that was signed for it; once they are trimmed, of the mined one. */
  readonly hashes: readonly Hex[]
}

/** A settlement recorded as mined and successful. */
export interface JournaledSuccess {
  readonly position: number
  readonly settlementId: string
  readonly txHash: Hex
}

/** The executor's journal, read by the auditor while the executor writes. */
export interface JournalReader {
  find(settlementId: string): JournaledSettlement | undefined
  /** Successful settlements in blocks up to this one, above a position, ascending. */
  successes(upTo: bigint, afterPosition: number, limit: number): JournaledSuccess[]
  /** Transactions that are not known to be mined, and when the oldest was signed, unix milliseconds. */
  open(): { readonly count: number; readonly oldestMs: number | undefined }
  /** Settlements that more than one nonce could still execute; any result is an error. */
  doubled(): string[]
  close(): void
}

/** Opens executor.db of a directory for reading; undefined when there is none. Throws UnknownSchemaVersion. */
export function openJournalReader(dataDir: string): JournalReader | undefined {
  const path = databasePath(dataDir, JOURNAL_FILES.executor)
  if (!isThere(path)) return undefined
  const db = openJournalFile(path, { readonly: true })
  return { ...prepareSettlementReads(db), ...prepareWholeReads(db), close: () => void db.close() }
}

/**
 * How many transactions of the sender are not final, in the journal of this path; 0 where there is no journal. Throws
 * UnknownSchemaVersion.
 */
export function countUnsettled(path: string, sender: Address): number {
  if (!isThere(path)) return 0
  const db = openJournalFile(path, { readonly: true })
  try {
    return createTransactionJournal(db).unsettledTransactions(sender).length
  } finally {
    db.close()
  }
}

type JournalDatabase = ReturnType<typeof openJournalFile>

/** A settlement that a mined batch did not try has further intents named after it; ':' sorts after the digits. */
const LIFE = / life [0-9]+$/
const LIVES = `(i.intent_id = @id OR (i.intent_id > @id || ' life ' AND i.intent_id < @id || ' life :'))`

interface SettlementRow {
  readonly refused_revert: string | null
  readonly status: 'open' | 'mined' | 'displaced' | null
  readonly outcome: 'success' | 'reverted' | null
}

function prepareSettlementReads(db: JournalDatabase): Pick<JournalReader, 'find'> {
  const settlement = db.prepare<[{ id: string }], SettlementRow>(
    `SELECT i.refused_revert, t.status, c.outcome
     FROM intents i
       LEFT JOIN transaction_intents c ON c.intent_id = i.intent_id AND c.displaced = 0
       LEFT JOIN transactions t USING (sender, evm_nonce)
     WHERE ${LIVES} ORDER BY i.rowid DESC LIMIT 1`,
  )
  const hashes = db
    .prepare<[{ id: string }], Buffer>(
      `SELECT a.hash FROM intents i JOIN transaction_intents c USING (intent_id)
         JOIN attempts a USING (sender, evm_nonce)
       WHERE ${LIVES}
       UNION SELECT t.mined_hash FROM intents i JOIN transaction_intents c USING (intent_id)
         JOIN transactions t USING (sender, evm_nonce)
       WHERE ${LIVES} AND t.status = 'mined'`,
    )
    .pluck()
  return {
    find(settlementId) {
      const row = settlement.get({ id: settlementId })
      if (row === undefined) return undefined
      return { status: statusOf(row), hashes: hashes.all({ id: settlementId }).map(hexOf) }
    },
  }
}

function statusOf({ refused_revert, status, outcome }: SettlementRow) {
  if (refused_revert !== null) return 'refused'
  return status === 'mined' ? (outcome ?? 'open') : 'open'
}

function prepareWholeReads(
  db: JournalDatabase,
): Pick<JournalReader, 'successes' | 'open' | 'doubled'> {
  const successes = db.prepare<
    [bigint, number, number],
    { position: bigint; intent_id: string; mined_hash: Buffer }
  >(
    `SELECT i.rowid AS position, i.intent_id, t.mined_hash
     FROM intents i JOIN transaction_intents c ON c.intent_id = i.intent_id AND c.displaced = 0
       JOIN transactions t USING (sender, evm_nonce)
     WHERE c.outcome = 'success' AND t.status = 'mined' AND t.block_number <= ? AND i.rowid > ?
     ORDER BY i.rowid LIMIT ?`,
  )
  const open = db.prepare<[], { count: bigint; oldest: bigint | null }>(
    `SELECT count(DISTINCT evm_nonce) AS count, min(a.signed_at_ms) AS oldest
     FROM transactions t JOIN attempts a USING (sender, evm_nonce) WHERE t.status = 'open'`,
  )
  const doubled = db
    .prepare<[], string>(
      `SELECT intent_id FROM transaction_intents WHERE displaced = 0
       GROUP BY intent_id HAVING count(*) > 1`,
    )
    .pluck()
  return {
    successes: (upTo, after, limit) =>
      successes.all(upTo, after, limit).map((row) => ({
        position: exactNumber(row.position),
        settlementId: row.intent_id.replace(LIFE, ''),
        txHash: hexOf(row.mined_hash),
      })),
    open() {
      const row = open.get()
      const oldest = row?.oldest ?? undefined
      return {
        count: exactNumber(row?.count ?? 0n),
        oldestMs: oldest === undefined ? undefined : exactNumber(oldest),
      }
    },
    doubled: () => doubled.all(),
  }
}
