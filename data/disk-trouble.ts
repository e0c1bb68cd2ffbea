import Sqlite from 'better-sqlite3'

/** A file could not be written, because its disk is full, fails or is read-only, or another process holds the file: nothing was. */
export class DiskTrouble extends Error {
  override readonly name = 'DiskTrouble'
}

/** Whether SQLite could not write for now. Any other error of SQLite is a fault of the statement or of the file. */
export const isDiskTrouble = (error: unknown): error is Error =>
  error instanceof Sqlite.SqliteError && /^SQLITE_(FULL|IOERR|BUSY|READONLY)/.test(error.code)

/** The write; throws DiskTrouble where it can succeed later. */
export function orDiskTrouble<Args extends unknown[], Result>(write: (...args: Args) => Result) {
  return (...args: Args): Result => {
    try {
      return write(...args)
    } catch (error) {
      if (!isDiskTrouble(error)) throw error
      throw new DiskTrouble(error.message, { cause: error })
    }
  }
}
