import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart } from '../core/cannot-start.js'

/** The process that writes each database, by its name in the Procfile. */
const WRITERS: Readonly<Record<string, string>> = {
  'history.db': 'projector',
  'intake.db': 'order-intake',
  'accounts.db': 'chain-reader',
  'executor.db': 'executor',
  'deposits.db': 'deposit-submitter',
  'deposit-transactions.db': 'deposit-submitter',
  'withdrawals.db': 'withdrawal-submitter',
  'withdrawal-transactions.db': 'withdrawal-submitter',
  'keeper.db': 'keeper',
  'keeper-transactions.db': 'keeper',
}

/** The directory of a process in DATA_DIR: one of its name where the operator made one, else DATA_DIR. */
export function ownDirectory(dataDir: string, process: string): string {
  const own = join(dataDir, process)
  return existsSync(own) ? own : dataDir
}

/** A database is in DATA_DIR itself, while its process has a directory of its own there: it would begin a second, empty one. */
export class DatabaseNotMoved extends CannotStart {
  override readonly name = 'DatabaseNotMoved'
  constructor(left: string, place: string) {
    const cure = `move it there with -wal, or away if ${place} is the newer one (docs/UPGRADING.md)`
    super(`${left} is not where its process keeps it, ${place}: ${cure}`)
  }
}

/** Where a database is, or would be made, in DATA_DIR. Throws DatabaseNotMoved. */
export function databasePath(dataDir: string, name: string): string {
  const path = placeOf(dataDir, name)
  const left = join(dataDir, name)
  // The newest commits of a process that was killed are in the log alone.
  if (path !== left && (existsSync(left) || existsSync(`${left}-wal`)))
    throw new DatabaseNotMoved(left, path)
  return path
}

function placeOf(dataDir: string, name: string): string {
  const writer = WRITERS[name]
  return join(writer === undefined ? dataDir : ownDirectory(dataDir, writer), name)
}

/** The files of the databases that are there, by name; those of a directory that may not be read are left out. */
export function databaseFiles(dataDir: string): ReadonlyMap<string, string> {
  const loose = readdirSync(dataDir).filter((name) => name.endsWith('.db'))
  const files = new Map(loose.map((name) => [name, join(dataDir, name)]))
  for (const name of Object.keys(WRITERS)) {
    const path = placeOf(dataDir, name)
    if (existsSync(path)) files.set(name, path)
  }
  return new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The directories of processes that are there, and that this user may not look into. */
export const closedDirectories = (dataDir: string): string[] =>
  [...new Set(Object.values(WRITERS))]
    .map((writer) => join(dataDir, writer))
    .filter((own) => existsSync(own) && !mayLookInto(own))

/** A file is in a directory that this user may not look into. */
export class FileNotShared extends CannotStart {
  override readonly name = 'FileNotShared'
  constructor(path: string, cause: unknown) {
    super(`${path} may not be read by this user: run the command as root`, { cause })
  }
}

/** Whether a file is there. Throws FileNotShared where this user may not know: it would count as absent. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    throw new FileNotShared(path, error)
  }
}

/** False where the directory is there and this user may not look into it. */
export function mayLookInto(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EACCES'
  }
}
