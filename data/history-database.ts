/** Schema of history.db, the read model. */
export const HISTORY_MIGRATIONS = new URL('../../data/migrations/history/', import.meta.url)
