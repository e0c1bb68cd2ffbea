import Database from 'better-sqlite3'
import { journalStream } from '../../bus-schemas/subjects.js'
import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { CannotStart } from '../../core/cannot-start.js'
import {
  JOURNAL_OWNERS,
  type Inclusion,
  type JournalOwner,
} from '../../core/transaction-journal.js'
import { StreamMissing, type Bus } from '../../runtime/bus/bus.js'
import {
  openPublishedJournal,
  type JournalObserver,
  type PublishedJournal,
} from './published-journal.js'
import { JOURNAL_FILES, openJournalFile } from './journal-file.js'
import { databasePath, isThere } from '../places.js'

/** The journal files of a venue at rest, as a restore reads and completes them. */

/** The names of the journal files in a directory. */
export const journalFiles = (dataDir: string): string[] =>
  Object.values(JOURNAL_FILES).filter((name) => isThere(databasePath(dataDir, name)))

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
  const path = databasePath(dataDir, JOURNAL_FILES.executor)
  if (!isThere(path)) return []
  return readOnly(path, (db) =>
    db
      .prepare<[string, string], string>(
        'SELECT intent_id FROM intents WHERE intent_id >= ? AND intent_id < ?',
      )
      .pluck()
      .all(`${market}:`, `${market};`),
  )
}

/** A final transaction that the journal did not send. */
export interface ForeignTransaction {
  readonly sender: Address
  readonly evmNonce: number
  readonly by: Inclusion
}

/** The journals of a restored venue, with this process as their only writer. */
export interface RestoredJournals {
  /**
   * Records, in the file of that name and in its stream, that another transaction of the key has used the nonce, so that
   * the process goes on behind it.
   */
  recordForeign(file: string, foreign: ForeignTransaction): Promise<void>
  close(): Promise<void>
}

const nothing = (): void => undefined
/** Before the first process starts. */
const AT_REST: JournalObserver = {
  standingBy: (writer) => {
    throw new CannotStart(`a process sends, ${writer}: stop the venue before a restore`)
  },
  leads: nothing,
  journalUnclear: nothing,
  versionRaised: nothing,
  trimmed: nothing,
}

/**
 * Opens each restored journal as its process does: what a stream holds beyond its file is folded. Rejects as openPublishedJournal does, and with CannotStart while a process writes one.
 */
export async function openRestoredJournals(dataDir: string, bus: Bus): Promise<RestoredJournals> {
  const opened = new Map<string, PublishedJournal>()
  const files: Database.Database[] = []
  let fail: (error: unknown) => void = () => undefined
  const failure = new Promise<never>((_, reject) => (fail = reject))
  // It counts where a record waits for it.
  failure.catch(() => undefined)
  const close = async (): Promise<void> => {
    for (const published of opened.values()) await published.stop()
    for (const db of files) db.close()
  }
  try {
    for (const owner of JOURNAL_OWNERS) {
      const path = databasePath(dataDir, JOURNAL_FILES[owner])
      if (!isThere(path) && !(await hasStream(bus, owner))) continue
      const db = openJournalFile(path)
      files.push(db)
      const published = await openPublishedJournal({
        db,
        bus,
        owner,
        facts: AT_REST,
        onFatal: fail,
      })
      opened.set(JOURNAL_FILES[owner], published)
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    async recordForeign(file, { sender, evmNonce, by }) {
      const journal = opened.get(file)?.journal
      assert(journal !== undefined, `${file} is no journal of ${dataDir}`)
      journal.recordForeign(sender, evmNonce, by)
      await Promise.race([journal.durable(), failure])
    },
    close,
  }
}

async function hasStream(bus: Pick<Bus, 'streamState'>, owner: JournalOwner): Promise<boolean> {
  try {
    return (await bus.streamState(journalStream(owner))).lastSeq > 0
  } catch (error) {
    if (error instanceof StreamMissing) return false
    throw error
  }
}

function readOnly<T>(path: string, read: (db: Database.Database) => T): T {
  const db = new Database(path, { readonly: true })
  try {
    return read(db)
  } finally {
    db.close()
  }
}
