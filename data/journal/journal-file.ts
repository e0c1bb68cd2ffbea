import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { CannotStart } from '../../core/cannot-start.js'
import { crash } from '../../core/crash-point.js'
import { exactNumber } from '../../core/decimal.js'
import type {
  JournalEntry,
  JournalMessage,
  JournalOwner,
  Reversal,
} from '../../core/transaction-journal.js'
import { openDatabase } from '../open.js'
import { prepareApply } from './apply-entry.js'
import { prepareTransactionReads } from './transaction-rows.js'

/** Schema of a journal of signed transactions. */
export const JOURNAL_MIGRATIONS = new URL('../../../data/migrations/journal/', import.meta.url)

/** The name of the file of each journal, in DATA_DIR. */
export const JOURNAL_FILES: Readonly<Record<JournalOwner, string>> = {
  executor: 'executor.db',
  'deposit-submitter': 'deposit-transactions.db',
  'withdrawal-submitter': 'withdrawal-transactions.db',
}

/** The file is of a release whose journals were files alone. */
export class JournalTooOld extends CannotStart {
  override readonly name = 'JournalTooOld'
}

/** The journal's disk refused a write. */
export class JournalUnwritable extends Error {
  override readonly name = 'JournalUnwritable'
}

/** The file and the stream of a journal do not belong together. */
export class JournalDiverged extends CannotStart {
  override readonly name = 'JournalDiverged'
}

/**
 * Opens the file of a journal. It is the fold of a stream, so a power cut may take its last commits back. Throws
 * JournalTooOld, and UnknownSchemaVersion for a file of a newer release.
 */
export function openJournalFile(path: string, { readonly = false } = {}): Database {
  // Its schema has version numbers of its own.
  if (existsSync(path) && isFileAlone(path))
    throw new JournalTooOld(
      `${path} is a journal of release 0.2.0, which this release does not read (docs/UPGRADING.md)`,
    )
  return openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'NORMAL', readonly })
}

/** Whether the file holds the tables of a journal and no place in a stream. */
function isFileAlone(path: string): boolean {
  const db = new Sqlite(path, { readonly: true })
  try {
    const tables = db.prepare<[], string>('SELECT name FROM sqlite_master').pluck().all()
    return tables.includes('attempts') && !tables.includes('place')
  } finally {
    db.close()
  }
}

/** Where a journal's file stands in the journal's stream. */
export interface StreamPlace {
  /** The last message that is folded into the file; 0 for none. */
  readonly lastSeq: number
  /** Of that message; 0 and empty before the first. */
  readonly term: number
  readonly writer: string
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
  /** The stream's message of that number; undefined where the stream does not hold it any more. */
  readonly messageAt: (seq: number) => Promise<JournalMessage | undefined>
}

/** The file of a journal as the fold of its stream. Each method throws JournalUnwritable. */
export interface FoldedFile {
  readonly place: () => StreamPlace
  /** Folds the next messages of the stream. Throws JournalDiverged. */
  fold(messages: readonly SequencedMessage[]): void
  /**
   * Writes the rows of an entry that is to be appended to the stream, and returns the outcomes that it reversed. This
   * process reads them at once; until `commit` they are in no file, so that a crash forgets what the stream may lack.
   */
  apply(entry: JournalEntry): Reversal[]
  /**
   * The entries are the message at this place, with which the stream ends: the file holds them from now on. `ahead` are
   * those that were applied behind them.
   */
  commit(entries: readonly JournalEntry[], place: StreamPlace, ahead: readonly JournalEntry[]): void
  /** Takes back what is applied and not committed. */
  forget(): void
}

/**
 * The file as the fold of the stream. Rejects with JournalDiverged where it is not: it is of another stream, the stream ends
 * before it, or has another message in its place.
 */
export async function openFoldedFile(db: Database, found: FoundStream): Promise<FoldedFile> {
  const sql = prepareStatements(db)
  const { stream, streamEnd, messageAt } = found
  sql.start.run(stream)
  const place = (): StreamPlace => {
    const row = sql.place.get()
    return {
      lastSeq: exactNumber(row?.last_seq ?? 0n),
      term: exactNumber(row?.term ?? 0n),
      writer: row?.writer ?? '',
    }
  }
  const of = sql.place.get()?.stream
  if (of !== stream) throw new JournalDiverged(`${db.name} is of ${of}, not of ${stream}`)
  const { lastSeq, term, writer } = place()
  if (lastSeq > streamEnd)
    throw new JournalDiverged(
      `${db.name} is folded up to message ${lastSeq} of ${stream}, which ends with ${streamEnd}: restore the stream`,
    )
  const message = lastSeq === 0 ? undefined : await messageAt(lastSeq)
  if (message !== undefined && (message.term !== term || message.writer !== writer))
    throw new JournalDiverged(
      `${db.name} holds another message ${lastSeq} of ${stream} than the stream: restore the stream`,
    )
  return { place, ...prepareFold(db, sql, place) }
}

function prepareFold(
  db: Database,
  sql: Statements,
  placeNow: () => StreamPlace,
): Omit<FoldedFile, 'place'> {
  const applyOne = db.transaction(prepareApply(db, prepareTransactionReads(db)))
  const move = ({ lastSeq, term, writer }: StreamPlace): void =>
    void sql.move.run(lastSeq, term, writer)
  /** A disk that fails may take the whole transaction back: then this process reads too little, and has to end. */
  let isLost = false
  const begin = (): void => {
    if (isLost) throw new JournalUnwritable('what was recorded is not in the journal any more')
    if (!db.inTransaction) sql.begin.run()
  }
  const applyAhead = (entry: JournalEntry): Reversal[] => {
    const isFirst = !db.inTransaction
    begin()
    try {
      return applyOne(entry)
    } catch (error) {
      isLost = !isFirst && !db.inTransaction
      throw error
    }
  }
  const forget = (): void => {
    if (db.inTransaction) sql.rollback.run()
  }
  const fold = db.transaction((messages: readonly SequencedMessage[]) => {
    for (const { seq, message } of messages) {
      const { term, writer, entries } = message
      const place = placeNow()
      // A writer with a lower term is fenced out; the stream holds nothing of it behind a higher one.
      if (term < place.term)
        throw new JournalDiverged(`message ${seq} has term ${term} behind ${place.term}`)
      for (const entry of entries) applyOne(entry)
      move({ lastSeq: seq, term, writer })
    }
  })
  return {
    fold: orUnwritable((messages) => fold.immediate(messages)),
    apply: orUnwritable(applyAhead),
    commit: orUnwritable((entries, place, ahead) => {
      // What the stream may lack must not be committed: it is applied again behind what the stream has.
      if (ahead.length > 0) forget()
      const isApplied = ahead.length === 0 && db.inTransaction
      begin()
      if (!isApplied) for (const entry of entries) applyOne(entry)
      move(place)
      if (entries.length > 0) crash('journal.in_fold')
      sql.commit.run()
      if (ahead.length === 0) return
      begin()
      for (const entry of ahead) applyOne(entry)
    }),
    forget: orUnwritable(forget),
  }
}

type Statements = ReturnType<typeof prepareStatements>

interface PlaceRow {
  readonly stream: string
  readonly last_seq: bigint
  readonly term: bigint
  readonly writer: string
}

function prepareStatements(db: Database) {
  return {
    place: db.prepare<[], PlaceRow>('SELECT stream, last_seq, term, writer FROM place'),
    start: db.prepare<[string]>(
      `INSERT INTO place (id, stream, last_seq, term, writer) VALUES (1, ?, 0, 0, '')
       ON CONFLICT (id) DO NOTHING`,
    ),
    move: db.prepare<[number, number, string]>(
      'UPDATE place SET last_seq = ?, term = ?, writer = ?',
    ),
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
  }
}

/** The write; a full or failing disk is an operating error. */
export function orUnwritable<Args extends unknown[], Result>(write: (...args: Args) => Result) {
  return (...args: Args): Result => {
    try {
      return write(...args)
    } catch (error) {
      const isOfDisk =
        error instanceof Sqlite.SqliteError && /^SQLITE_(FULL|IOERR|BUSY|READONLY)/.test(error.code)
      if (!isOfDisk) throw error
      throw new JournalUnwritable('the journal could not be written', { cause: error })
    }
  }
}
