import Database from 'better-sqlite3'

/** Another process holds the lock. */
export class AlreadyLocked extends Error {
  override readonly name = 'AlreadyLocked'
}

export interface Lock {
  release(): void
}

/**
 * Takes the lock file at `path` for this process alone, creating it; the system frees it when the process ends, however
 * it ends. Throws AlreadyLocked at once when it is held, by this process too.
 */
export function takeLock(path: string): Lock {
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
