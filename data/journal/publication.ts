import type { Database } from 'better-sqlite3'
import { journalEntryText } from '../../bus-schemas/journal.js'
import { CannotStart } from '../../core/cannot-start.js'
import { exactNumber } from '../../core/decimal.js'
import type { JournalEntry, JournalMessage } from '../../core/transaction-journal.js'
import { prepareApply } from './apply-entry.js'
import { entriesOfFile } from './entries-of-file.js'
import { durably } from './transaction-journal.js'
import { prepareTransactionReads } from './transaction-rows.js'

/** The file and the stream of a journal do not belong together. */
export class JournalDiverged extends CannotStart {
  override readonly name = 'JournalDiverged'
}

/** Where a journal's file stands in the journal's stream. */
export interface StreamPlace {
  /** The last message that is folded into the file. */
  readonly lastSeq: number
  /** The greatest term up to there; 0 before the first. */
  readonly term: number
}

export interface WaitingEntry {
  readonly no: number
  readonly entry: JournalEntry
  /** Length of its text. */
  readonly size: number
}

/** What a journal's file holds about its stream. Every write of it is a transaction, synchronised with the next of the journal. */
export interface Publication {
  readonly place: () => StreamPlace
  /** Waits to be published, behind `after`, oldest first; of a total size of about `maxSize`, and at least one. */
  waiting(after: number, maxSize: number): WaitingEntry[]
  /** The number of the newest entry that ever waited, 0 for none. */
  newestNo(): number
  /** No entry up to this number waits. */
  publishedNo(): number
  /** Lets an entry wait, inside the transaction that writes its rows; returns its number. */
  add(entry: JournalEntry): number
  /** The entries up to that number are in the stream, which ends like this. Inside a transaction or alone. */
  published(upToNo: number, place: StreamPlace): void
  /**
   * Folds the next messages of the stream. Entries that wait here and are in the stream, because only their
   * acknowledgement was lost, stop waiting. If another writer's entries come first, the whole file is discarded: what
   * waited was never broadcast. Then the file stands at the stream's beginning again. Throws JournalDiverged, and leaves
   * the file as it is, where what waited is of an earlier release, which did broadcast it.
   */
  fold(messages: readonly SequencedMessage[]): 'folded' | 'discarded'
}

export interface SequencedMessage {
  readonly seq: number
  readonly message: JournalMessage
}

/** A journal's stream as it is found. */
export interface FoundStream {
  readonly stream: string
  /** Its last message; 0 for none. */
  readonly streamEnd: number
  /** Whether any message has entries. Asked where the file was never published in the stream. */
  readonly holdsEntries: boolean
}

/** Whether the file was published in the stream before. */
export const isPublishedIn = (db: Database, stream: string): boolean =>
  prepareStatements(db).place.get()?.stream === stream

/**
 * The publication of a journal's file in that stream. The first time, all that the file holds is made to wait: it is of an
 * earlier release. Throws JournalDiverged.
 */
export function openPublication(db: Database, found: FoundStream): Publication {
  const sql = prepareStatements(db)
  begin(db, sql, found)
  const { stream, streamEnd } = found
  const placeNow = (): StreamPlace => {
    const row = sql.place.get()
    return { lastSeq: exactNumber(row?.last_seq ?? 0n), term: exactNumber(row?.term ?? 0n) }
  }
  const { lastSeq } = placeNow()
  if (lastSeq > streamEnd) {
    throw new JournalDiverged(
      `${db.name} is folded up to message ${lastSeq} of ${stream}, which ends with ${streamEnd}: restore the stream`,
    )
  }
  const waiting: Publication['waiting'] = (after, maxSize) => {
    const found: WaitingEntry[] = []
    let size = 0
    for (const { no, entry } of sql.waiting.iterate(after)) {
      if (found.length > 0 && size + entry.length > maxSize) break
      size += entry.length
      found.push({ no: exactNumber(no), entry: journalEntryText.read(entry), size: entry.length })
    }
    return found
  }
  const newestNo = (): number => exactNumber(sql.newest.get()?.no ?? 0n)
  const published: Publication['published'] = (upToNo, { lastSeq: seq, term }) => {
    sql.drop.run(upToNo)
    sql.move.run(seq, term)
  }
  return {
    place: placeNow,
    waiting,
    newestNo,
    publishedNo: () => exactNumber(sql.oldest.get(1)?.no ?? BigInt(newestNo() + 1)) - 1,
    add: (entry) => Number(sql.add.run(journalEntryText.write(entry)).lastInsertRowid),
    published,
    fold: prepareFold(db, { sql, placeNow, published }),
  }
}

type Statements = ReturnType<typeof prepareStatements>

interface PlaceRow {
  readonly stream: string
  readonly last_seq: bigint
  readonly term: bigint
  readonly earlier_up_to: bigint
}

function prepareStatements(db: Database) {
  return {
    place: db.prepare<[], PlaceRow>(
      'SELECT stream, last_seq, term, earlier_up_to FROM publication',
    ),
    start: db.prepare<[string, number]>(
      `INSERT INTO publication (id, stream, last_seq, term, earlier_up_to) VALUES (1, ?, 0, 0, ?)
       ON CONFLICT (id) DO UPDATE SET stream = excluded.stream, last_seq = 0, term = 0,
         earlier_up_to = excluded.earlier_up_to`,
    ),
    move: db.prepare<[number, number]>('UPDATE publication SET last_seq = ?, term = ?'),
    waiting: db.prepare<[number], { no: bigint; entry: string }>(
      'SELECT no, entry FROM outbox WHERE no > ? ORDER BY no',
    ),
    oldest: db.prepare<[number], { no: bigint; entry: string }>(
      'SELECT no, entry FROM outbox ORDER BY no LIMIT ?',
    ),
    newest: db.prepare<[], { no: bigint }>(
      `SELECT seq AS no FROM sqlite_sequence WHERE name = 'outbox'`,
    ),
    add: db.prepare<[string]>('INSERT INTO outbox (entry) VALUES (?)'),
    drop: db.prepare<[number]>('DELETE FROM outbox WHERE no <= ?'),
  }
}

/** The first start with this stream. */
function begin(db: Database, sql: Statements, { stream, holdsEntries }: FoundStream): void {
  const known = sql.place.get()?.stream
  if (known === stream) return
  durably(db, () => {
    // What waited for another stream is among what the tables hold.
    db.exec('DELETE FROM outbox')
    let earlierUpTo = 0
    for (const entry of entriesOfFile(db)) {
      earlierUpTo = Number(sql.add.run(journalEntryText.write(entry)).lastInsertRowid)
    }
    if (earlierUpTo > 0 && holdsEntries) throw twoJournals(db, stream)
    sql.start.run(stream, earlierUpTo)
  })()
}

const twoJournals = (db: Database, stream: string): JournalDiverged =>
  new JournalDiverged(
    `${db.name} was never published in ${stream}, which holds what another process has sent: ` +
      'keep the file, and remove it from here only when all its transactions are final (docs/UPGRADING.md)',
  )

interface FoldDeps {
  readonly sql: Statements
  readonly placeNow: () => StreamPlace
  readonly published: Publication['published']
}

/** The tables of entries, those that refer to others first. */
const TABLES = ['reversals', 'attempts', 'transaction_intents', 'transactions', 'intents', 'outbox']

function prepareFold(db: Database, { sql, placeNow, published }: FoldDeps): Publication['fold'] {
  const apply = prepareApply(db, prepareTransactionReads(db))
  const discard = (): void => {
    for (const table of TABLES) db.exec(`DELETE FROM ${table}`)
    // Reversals are numbered from 1 again, as the entries have them.
    db.exec(`DELETE FROM sqlite_sequence WHERE name = 'reversals'`)
    sql.move.run(0, 0)
  }
  return durably(db, (messages: readonly SequencedMessage[]) => {
    for (const { seq, message } of messages) {
      const { term, entries } = message
      const place = placeNow()
      // A writer with a lower term is fenced out; the stream holds nothing of it behind a higher one.
      if (term < place.term)
        throw new JournalDiverged(`message ${seq} has term ${term} behind ${place.term}`)
      const own = sql.oldest.all(entries.length)
      const texts = entries.map((entry) => journalEntryText.write(entry))
      const isWaiting = entries.length > 0 && sql.oldest.all(1).length > 0
      const isOwn = isWaiting && texts.every((text, i) => own[i]?.entry === text)
      if (isWaiting && !isOwn) {
        const row = sql.place.get()
        const oldest = sql.oldest.get(1)
        if (row && oldest && oldest.no <= row.earlier_up_to) throw twoJournals(db, row.stream)
        discard()
        return 'discarded'
      }
      if (!isOwn) entries.forEach((entry) => apply(entry))
      published(isOwn ? exactNumber(own.at(-1)?.no ?? 0n) : 0, { lastSeq: seq, term })
    }
    return 'folded'
  })
}
