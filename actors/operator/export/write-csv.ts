import { open, rename } from 'node:fs/promises'
import { csvLine } from '../../../core/csv.js'
import { formatDecimal } from '../../../core/decimal.js'
import { isoTime } from '../../../core/time.js'
import type { Column } from './day-tables.js'

/** Writes the rows as comma-separated values with a head, one page in memory at a time. Returns how many there were. */
export async function writeCsv<Row>(
  path: string,
  columns: readonly Column<Row>[],
  pages: Iterable<readonly Row[]>,
): Promise<number> {
  const unfinished = `${path}.unfinished`
  const file = await open(unfinished, 'w')
  let rows = 0
  try {
    await file.writeFile(csvLine(columns.map(({ name }) => name)))
    for (const page of pages) {
      await file.writeFile(page.map((row) => csvLine(cellsOf(columns, row))).join(''))
      rows += page.length
    }
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  return rows
}

/** What a row has no value of is empty. */
const cellsOf = <Row>(columns: readonly Column<Row>[], row: Row): string[] =>
  columns.map((column) => cellOf(column, row))

/** A decimal has up to 18 decimals and is never rounded; a time is ISO 8601 in UTC with milliseconds. */
function cellOf<Row>(column: Column<Row>, row: Row): string {
  if (column.kind === 'decimal') return textOf(column.of(row), (value) => formatDecimal(value, 18))
  if (column.kind === 'time') return textOf(column.of(row), isoTime)
  return String(column.of(row) ?? '')
}

const textOf = <Value>(value: Value | undefined, write: (value: Value) => string): string =>
  value === undefined ? '' : write(value)
