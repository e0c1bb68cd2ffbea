import { join } from 'node:path'

/** Schema of history.db, the read model. */
export const HISTORY_MIGRATIONS = new URL('../../data/migrations/history/', import.meta.url)

/**
 * How whoever writes it opens history.db: it can be rebuilt. Twice the usual page holds twice the rows, so that half as
 * many are written; most of them are written by several transactions before a checkpoint takes them over, 16 MiB at a time.
 */
export const HISTORY_FILE = {
  migrations: HISTORY_MIGRATIONS,
  synchronous: 'NORMAL',
  pageBytes: 8_192,
  checkpointPages: 2_000,
} as const

/** Where the read model is in a venue's DATA_DIR. */
export const historyPath = (dataDir: string): string => join(dataDir, 'history.db')
