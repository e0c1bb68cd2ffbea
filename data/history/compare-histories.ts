import type { Database } from 'better-sqlite3'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../open.js'
import {
  createProjection,
  HISTORY_FILE,
  HISTORY_MIGRATIONS,
  historyPath,
  type Projection,
} from './project.js'
import type { ProjectedMarket } from './write-change.js'

/** How a table of one database compares with the same table of another. */
export interface TableDifference {
  readonly table: string
  /** Rows that were equal before the first difference; all rows when the tables are equal. */
  readonly rows: number
  /** The first row that differs, as each side has it; absent when the tables are equal. */
  readonly parts?: { readonly ours: string; readonly theirs: string }
}

/** Tables that do not follow from the feeds: their rows come from other streams, which are trimmed. */
const NOT_FROM_FEEDS = [
  ...['close_outs', 'funding_rates', 'liquidation_cursor', 'liquidations', 'mark_prices'],
  'price_cursors',
]

/** Whether a table of the history follows from the feeds alone. */
export const isFromFeeds = (table: string): boolean => !NOT_FROM_FEEDS.includes(table)

/**
 * Compares every table of `ours` with the same one in `theirs`, row by row in key order, but for those
 * that do not follow from the feeds; holds one row at a time in memory.
 */
export function compareTables(ours: Database, theirs: Database): TableDifference[] {
  return tablesOf(ours).map((table) => compareTable(table, ours, theirs))
}

function compareTable(table: string, ours: Database, theirs: Database): TableDifference {
  const sql = `SELECT * FROM "${table}" ORDER BY ${keyOf(ours, table)}`
  const left = ours.prepare<[], unknown>(sql).iterate()
  const right = theirs.prepare<[], unknown>(sql).iterate()
  try {
    for (let rows = 0; ; rows += 1) {
      const a = left.next()
      const b = right.next()
      const ourRow = wordRow(a.done ? undefined : a.value)
      const theirRow = wordRow(b.done ? undefined : b.value)
      if (ourRow !== theirRow) return { table, rows, parts: { ours: ourRow, theirs: theirRow } }
      if (a.done === true) return { table, rows }
    }
  } finally {
    left.return?.()
    right.return?.()
  }
}

function tablesOf(db: Database): string[] {
  return db
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
    )
    .pluck()
    .all()
    .filter(isFromFeeds)
}

function keyOf(db: Database, table: string): string {
  const columns = db
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .pluck()
    .all(table)
  return columns.length === 0 ? 'rowid' : columns.map((column) => `"${column}"`).join(', ')
}

function wordRow(row: unknown): string {
  if (row === undefined) return 'no row'
  return JSON.stringify(row, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** A snapshot of the read model of a running venue. */
export interface LiveHistory {
  /** Sequence of the last message of the market's feed that it includes; 0 for an unknown market. */
  streamSeq(market: string): number
  /** Compares every table of this database with the same one in the other. */
  compareWith(other: Database): TableDifference[]
  close(): void
}

/**
 * Opens a snapshot of history.db of a directory for reading; later writes of the projector are not visible. Returns
 * undefined when there is no file. Throws UnknownSchemaVersion.
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
  // The first read of the transaction fixes the snapshot.
  db.exec('BEGIN')
  position.get('')
  return {
    streamSeq: (market) => position.get(market) ?? 0,
    compareWith: (other) => compareTables(other, db),
    close: () => void db.close(),
  }
}

/** An empty read model in a temporary directory, for folding the feeds a second time. */
export interface ScratchHistory {
  readonly db: Database
  readonly projection: Projection
  /** Closes it and removes its files. */
  remove(): void
}

export function openScratchHistory(markets: readonly ProjectedMarket[]): ScratchHistory {
  const directory = mkdtempSync(join(tmpdir(), 'venue-scratch-'))
  const path = historyPath(directory)
  const db = openDatabase({ path, ...HISTORY_FILE })
  return {
    db,
    projection: createProjection(db, markets),
    remove: () => {
      db.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
