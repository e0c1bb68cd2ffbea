import Database from 'better-sqlite3'
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CannotStart } from '../core/cannot-start.js'
import { assert } from '../core/assert.js'
import { isDamage } from '../runtime/process/cannot-start.js'
import { shareAsItsDirectory } from '../runtime/process/private-files.js'

export interface OpenOptions {
  readonly path: string
  /** Folder of `NNN-name.sql` files without gaps. A file below the first number is of a release that this build does not read. */
  readonly migrations: URL
  /** FULL for journals of money; NORMAL where the file can be rebuilt. */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Opens an existing, current file and changes nothing in it. */
  readonly readonly?: boolean
  /** Page size of a new file; defaults to SQLite's. */
  readonly pageBytes?: number
  /**
   * For a file that is made again from what it was folded from: a damaged one is set aside as `<path>.damaged`, over an earlier
   * one, one line says so, and a new file is begun. Absent: a damaged file ends the start.
   */
  readonly onSetAside?: (told: string) => void
  /** Pages of the write-ahead log at which a commit checkpoints them into the file; defaults to SQLite's. */
  readonly checkpointPages?: number
}

/** The file's schema is not that of this build: an older or newer release wrote it. */
export class UnknownSchemaVersion extends CannotStart {
  override readonly name = 'UnknownSchemaVersion'
  constructor(
    path: string,
    readonly found: number,
    readonly known: number,
    oldest = 1,
  ) {
    const cure =
      found > known
        ? 'run the release that wrote it, or a newer one'
        : found < oldest && found > 0
          ? 'it was written before release 0.3.0, from which on stored data is read'
          : 'start the process that writes it first, which brings it up to date'
    super(
      `${path} has schema version ${found}, this build knows version ${known}: ${cure} (docs/UPGRADING.md)`,
    )
  }
}

/** The file is no database, or its pages do not fit together. */
export class DamagedDatabase extends CannotStart {
  override readonly name = 'DamagedDatabase'
  constructor(path: string, cause: Error) {
    const cure = 'move it away with -wal and -shm, then restore or rebuild it (docs/DATABASE.md)'
    super(`${path} is damaged, ${cause.message}: ${cure}`, { cause })
  }
}

const noteOf = (path: string): string => `${path}.is-damaged`

/** Differs between a file and one that is made anew at its path; empty without a file. */
export function fileIdentity(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev} ${found.ino}`
}

/**
 * Has the next start make a file anew, which turned out to be damaged after it was opened. A reader gives the identity of the file that it
 * has open: the note says nothing of one that was made anew since.
 */
export const noteDamage = (path: string, identity = fileIdentity(path)): void =>
  writeFileSync(noteOf(path), identity)

/** Whether a process has found the file damaged since it was made. */
export function isNotedDamaged(path: string): boolean {
  const noted = readNote(path)
  return noted !== undefined && (noted === '' || noted === fileIdentity(path))
}

/** Undefined without a note; the process that makes the file anew removes it. */
function readNote(path: string): string | undefined {
  try {
    return readFileSync(noteOf(path), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const SYNCHRONOUS_CODE = { NORMAL: 1, FULL: 2 } as const
/** The write-ahead log is truncated to this many bytes after a checkpoint. */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * Opens a database in WAL mode with foreign keys, integers read as bigint, and the asked-for durability asserted;
 * creates it and brings its schema up to date, each migration in a transaction of its own. Throws
 * UnknownSchemaVersion when the file is newer than this build or older than what it reads, or with `readonly` not exactly at
 * its version, and DamagedDatabase when what is read of it at the start is damaged.
 */
export function openDatabase(options: OpenOptions): Database.Database {
  const { path, onSetAside } = options
  try {
    if (onSetAside !== undefined && isNotedDamaged(path))
      throw new NotedDamage('as a process found')
    return open(options)
  } catch (error) {
    if (!isDamage(error)) throw error
    const damaged = new DamagedDatabase(path, error)
    if (onSetAside === undefined) throw damaged
    try {
      setAside(path)
    } catch {
      throw damaged
    }
    onSetAside(`${path} was damaged, ${error.message}: it is ${path}.damaged now, and made anew`)
    return open(options)
  }
}

/** A file that was found damaged while it was in use. */
class NotedDamage extends Error {
  override readonly name = 'NotedDamage'
  readonly code = 'SQLITE_CORRUPT'
}

/** Moves a database with its log away; throws what the file system throws. */
function setAside(path: string): void {
  for (const part of ['-wal', '-shm', ''])
    if (existsSync(`${path}${part}`)) renameSync(`${path}${part}`, `${path}.damaged${part}`)
  rmSync(noteOf(path), { force: true })
}

function open(options: OpenOptions): Database.Database {
  const readonly = options.readonly ?? false
  if (!readonly) shareAsItsDirectory(options.path)
  const db = new Database(options.path, { readonly, fileMustExist: readonly })
  try {
    db.defaultSafeIntegers(true)
    // SQLite applies it to an empty file only, before any other statement.
    if (!readonly && options.pageBytes !== undefined) db.pragma(`page_size = ${options.pageBytes}`)
    if (!readonly) db.pragma('journal_mode = WAL')
    db.pragma(`synchronous = ${options.synchronous}`)
    db.pragma('foreign_keys = ON')
    db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`)
    db.pragma('trusted_schema = OFF')
    const { checkpointPages } = options
    if (checkpointPages !== undefined) db.pragma(`wal_autocheckpoint = ${checkpointPages}`)
    assertSettings(db, options.synchronous)
    bringUpToDate(db, options)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function assertSettings(db: Database.Database, synchronous: 'FULL' | 'NORMAL'): void {
  const value = (name: string) => String(db.pragma(name, { simple: true }))
  assert(value('journal_mode') === 'wal', `${db.name} is not in WAL mode`)
  assert(
    value('synchronous') === String(SYNCHRONOUS_CODE[synchronous]),
    `${db.name} is not synchronous=${synchronous}`,
  )
  assert(value('foreign_keys') === '1', `${db.name} does not enforce foreign keys`)
}

function bringUpToDate(db: Database.Database, { path, migrations, readonly }: OpenOptions): void {
  const all = readMigrations(migrations)
  const oldest = all[0]?.version ?? 0
  const newest = all.at(-1)?.version ?? 0
  const found = Number(db.pragma('user_version', { simple: true }))
  const isKnown = found === 0 || (found >= oldest && found <= newest)
  if (!isKnown || (readonly === true && found !== newest)) {
    throw new UnknownSchemaVersion(path, found, newest, oldest)
  }
  for (const { version, sql } of all) {
    if (version <= found) continue
    db.transaction(() => {
      db.exec(sql)
      db.pragma(`user_version = ${version}`)
    }).immediate()
  }
}

interface Migration {
  /** Its number, which is the version of a file that has it. */
  readonly version: number
  readonly sql: string
}

function readMigrations(folder: URL): Migration[] {
  const names = readdirSync(fileURLToPath(folder))
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const first = Number.parseInt(names[0] ?? '', 10)
  return names.map((name, index) => {
    const version = first + index
    const number = String(version).padStart(3, '0')
    assert(name.startsWith(`${number}-`), `migration ${name} should be number ${number}`)
    const file = new URL(name, `${folder.href.replace(/\/?$/, '/')}`)
    return { version, sql: readFileSync(file, 'utf8') }
  })
}

/** Another process holds the lock. */
export class AlreadyLocked extends Error {
  override readonly name = 'AlreadyLocked'
}

export interface FileLock {
  release(): void
}

/**
 * Locks the file at `path` for this process alone, creating it; the system releases the lock however the process ends.
 * Throws AlreadyLocked at once when it is held, by this process too.
 */
export function takeLock(path: string): FileLock {
  const db = new Database(path, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (!(error instanceof Database.SqliteError) || error.code !== 'SQLITE_BUSY') throw error
    throw new AlreadyLocked(`${path} is held by another process`, { cause: error })
  }
  return { release: () => db.close() }
}
