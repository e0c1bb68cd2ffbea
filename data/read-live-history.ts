import { existsSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { compareTables, type TableDifference } from './compare-tables.js'
import { HISTORY_MIGRATIONS, historyPath } from './history-database.js'
import { openDatabase } from './open.js'

/** The read model of a running venue, as it stood at one moment. */
export interface LiveHistory {
  /** Sequence of the last message of the market's feed that it includes; 0 for a market it does not know. */
  streamSeq(market: string): number
  /** Every table of the other database beside the one here. */
  compareWith(other: Database): TableDifference[]
  close(): void
}

/**
 * Opens history.db of a directory for reading; what the projector writes from now on is not seen. Undefined when there
 * is none. Throws UnknownSchemaVersion.
 */
export function openLiveHistory(dataDir: string): LiveHistory | undefined {
  const path = historyPath(dataDir)
  if (!existsSync(path)) return undefined
  const migrations = HISTORY_MIGRATIONS
  const db = openDatabase({ path, migrations, synchronous: 'NORMAL', readonly: true })
  const position = db
    .prepare<[string], number>('SELECT stream_seq FROM markets WHERE market = ?')
    .pluck()
    .safeIntegers(false)
  // The moment is the first read's.
  db.exec('BEGIN')
  position.get('')
  return {
    streamSeq: (market) => position.get(market) ?? 0,
    compareWith: (other) => compareTables(other, db),
    close: () => void db.close(),
  }
}
