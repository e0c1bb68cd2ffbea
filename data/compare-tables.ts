import type { Database } from 'better-sqlite3'

/** How a table of one database compares with the same table of another. */
export interface TableDifference {
  readonly table: string
  /** Rows that were compared before they parted, all of them when they are equal. */
  readonly rows: number
  /** The first row that differs, as each side has it; absent when the tables are equal. */
  readonly parts?: { readonly ours: string; readonly theirs: string }
}

/** Every table of `ours` beside the one in `theirs`, row by row in the order of their keys; one row at a time in memory. */
export function compareTables(ours: Database, theirs: Database): TableDifference[] {
  return tablesOf(ours).map((table) => compareTable(table, ours, theirs))
}

function compareTable(table: string, ours: Database, theirs: Database): TableDifference {
  const sql = `SELECT * FROM "${table}" ORDER BY ${keyOf(ours, table)}`
  const left = ours.prepare<[], unknown>(sql).iterate()
  const right = theirs.prepare<[], unknown>(sql).iterate()
  try {
    for (let rows = 0; ; rows += 1) {
      const [a, b] = [left.next(), right.next()]
      const [ourRow, theirRow] = [
        wordRow(a.done ? undefined : a.value),
        wordRow(b.done ? undefined : b.value),
      ]
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
