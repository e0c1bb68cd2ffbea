import Database from 'better-sqlite3'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJournal } from '../../bus-schemas/journal.js'
import type { Address, Hex } from '../../core/action.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { openDatabase } from '../open.js'
import { openPublication } from './publication.js'
import { JOURNAL_MIGRATIONS } from './transaction-journal.js'

/** The journal files of a venue at rest, as a restore reads and completes them. */

const JOURNALS = /^executor\.db$|-transactions\.db$/

/** The names of the journal files in a directory. */
export const journalFiles = (dataDir: string): string[] =>
  readdirSync(dataDir).filter((name) => JOURNALS.test(name))

/** Each key that has sent by the journal, with the EVM nonce behind its last one. */
export function journalSenders(
  path: string,
): { readonly sender: Address; readonly next: number }[] {
  return readOnly(path, (db) =>
    db
      .prepare<[], { sender: Buffer; next: number }>(
        'SELECT sender, max(evm_nonce) + 1 AS next FROM transactions GROUP BY sender',
      )
      .all()
      .map(({ sender, next }) => ({ sender: `0x${sender.toString('hex')}`, next })),
  )
}

/** The ids of the intents for matches of a market; a later attempt at a match has its id and a suffix. None without a file. */
export function marketIntents(dataDir: string, market: string): string[] {
  const path = join(dataDir, 'executor.db')
  if (!existsSync(path)) return []
  return readOnly(path, (db) =>
    db
      .prepare<[string, string], string>(
        'SELECT intent_id FROM intents WHERE intent_id >= ? AND intent_id < ?',
      )
      .pluck()
      .all(`${market}:`, `${market};`),
  )
}

/**
 * Folds what the restored stream of a journal holds beyond its restored file: a file that was copied while an append was
 * under way would otherwise be rebuilt at the next start, without what a restore records in it. A file without a stream
 * stays as it is.
 */
export async function foldRestoredStream(
  path: string,
  bus: Pick<Bus, 'streamState' | 'read'>,
): Promise<void> {
  const db = openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'FULL' })
  try {
    const stream = db.prepare<[], string>('SELECT stream FROM publication').pluck().get()
    if (stream === undefined) return
    const { lastSeq } = await bus.streamState(stream)
    const publication = openPublication(db, stream, lastSeq)
    for (let next = 0; next <= lastSeq;) {
      next = publication.place().lastSeq + 1
      const read = await bus.read(stream, next, FOLDED_AT_ONCE)
      if (read.length === 0) return
      publication.fold(read.map(({ seq, data }) => ({ seq, message: decodeJournal(data) })))
    }
  } finally {
    db.close()
  }
}

/** Messages folded in one transaction. */
const FOLDED_AT_ONCE = 256

/** A final transaction that the journal did not send. */
export interface ForeignTransaction {
  readonly sender: Address
  readonly evmNonce: number
  readonly hash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
}

/** Records that another transaction of the key has used the nonce, so that the process goes on behind it. */
export function recordForeign(path: string, foreign: ForeignTransaction): void {
  const { sender, evmNonce, hash, blockNumber, blockHash } = foreign
  const db = openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'FULL' })
  try {
    db.prepare(
      `INSERT INTO transactions (sender, evm_nonce, status, mined_hash, block_number, block_hash, final)
       VALUES (?, ?, 'displaced', ?, ?, ?, 1)`,
    ).run(bytes(sender), evmNonce, bytes(hash), blockNumber, bytes(blockHash))
  } finally {
    db.close()
  }
}

const bytes = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex')

function readOnly<T>(path: string, read: (db: Database.Database) => T): T {
  const db = new Database(path, { readonly: true })
  try {
    return read(db)
  } finally {
    db.close()
  }
}
