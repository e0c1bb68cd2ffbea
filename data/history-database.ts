import { join } from 'node:path'

/** Schema of history.db, the read model. */
export const HISTORY_MIGRATIONS = new URL('../../data/migrations/history/', import.meta.url)

/** Where the read model is in a venue's DATA_DIR. */
export const historyPath = (dataDir: string): string => join(dataDir, 'history.db')
