import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { CannotStart } from '../../core/cannot-start.js'
import { crash } from '../../core/crash-point.js'
import type {
  JournalEntry,
  JournalMessage,
  JournalOwner,
  Reversal,
  SnapshotRow,
  StreamPlace,
} from '../../core/transaction-journal.js'
import { isDamage } from '../../runtime/process/cannot-start.js'
import { isDiskTrouble } from '../disk-trouble.js'
import { openDatabase, type OpenOptions } from '../open.js'
import { prepareApply } from './apply-entry.js'
import { prepareLoad, readPlace } from './journal-snapshot.js'
import { prepareTransactionReads } from './transaction-rows.js'

/** Schema of a journal of signed transactions. */
export const JOURNAL_MIGRATIONS = new URL('../../../data/migrations/journal/', import.meta.url)

/** The name of the file of each journal, in DATA_DIR. */
export const JOURNAL_FILES: Readonly<Record<JournalOwner, string>> = {
  executor: 'executor.db',
  'deposit-submitter': 'deposit-transactions.db',
  'withdrawal-submitter': 'withdrawal-transactions.db',
  keeper: 'keeper-transactions.db',
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
 * JournalTooOld, and what openDatabase throws. A damaged file is set aside where `onSetAside` is given.
 */
export function openJournalFile(
  path: string,
  { readonly = false, onSetAside }: Partial<Pick<OpenOptions, 'readonly' | 'onSetAside'>> = {},
): Database {
  // Its schema has version numbers of its own.
  if (existsSync(path) && isFileAlone(path))
    throw new JournalTooOld(
      `${path} is a journal of release 0.2.0, which this release does not read (docs/UPGRADING.md)`,
    )
  return openDatabase({
    path,
    migrations: JOURNAL_MIGRATIONS,
    synchronous: 'NORMAL',
    readonly,
    ...(onSetAside && { onSetAside }),
  })
}

/** Whether the file holds the tables of a journal and no place in a stream. */
function isFileAlone(path: string): boolean {
  const db = new Sqlite(path, { readonly: true })
  try {
    const tables = db.prepare<[], string>('SELECT name FROM sqlite_master').pluck().all()
    return tables.includes('attempts') && !tables.includes('place')
  } catch (error) {
    // openDatabase says what becomes of a damaged file.
    if (!isDamage(error)) throw error
    return false
  } finally {
    db.close()
  }
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
  /** Whose the stream's message of that number is; undefined where the stream does not tell any more. */
  readonly messageAt: (seq: number) => Promise<Pick<StreamPlace, 'term' | 'writer'> | undefined>
}

/** The file of a journal as the fold of its stream. Each method throws JournalUnwritable. */
export interface FoldedFile {
  readonly place: () => StreamPlace
  /** Folds the next messages of the stream. Throws JournalDiverged. */
  fold(messages: readonly SequencedMessage[]): void
  /**
   * Puts the rows of a snapshot in the place of all rows, as the fold up to its place. Nothing else may use the file meanwhile, and it
   * is as before where the rows fail.
   */
  rebuild(rows: AsyncIterable<SnapshotRow>, place: StreamPlace): Promise<void>
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
  const place = (): StreamPlace => readPlace(db)
  const of = sql.stream.get()
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
  sql: FileStatements,
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
    rebuild: prepareRebuild(db, { begin, move, forget, commit: () => void sql.commit.run() }),
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

/** The steps of a transaction of the file. */
interface Steps {
  readonly begin: () => void
  readonly move: (place: StreamPlace) => void
  readonly commit: () => void
  readonly forget: () => void
}

function prepareRebuild(db: Database, steps: Steps): FoldedFile['rebuild'] {
  const load = prepareLoad(db)
  const clear = orUnwritable(() => {
    steps.begin()
    load.clear()
  })
  const insert = orUnwritable(load.insert)
  const finish = orUnwritable((place: StreamPlace) => {
    steps.move(place)
    steps.commit()
  })
  return async (rows, place) => {
    clear()
    try {
      for await (const row of rows) insert(row)
      finish(place)
    } finally {
      steps.forget()
    }
  }
}

type FileStatements = ReturnType<typeof prepareStatements>

function prepareStatements(db: Database) {
  return {
    stream: db.prepare<[], string>('SELECT stream FROM place').pluck(),
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
      if (!isDiskTrouble(error)) throw error
      throw new JournalUnwritable('the journal could not be written', { cause: error })
    }
  }
}
