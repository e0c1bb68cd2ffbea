import type { SchemaElement } from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import { rename } from 'node:fs/promises'
import type { Column, ColumnKind } from './day-tables.js'

/** The widest decimal that readers of Parquet have in common. */
const DECIMAL_DIGITS = 38
const DECIMAL_BYTES = 16
const DECIMAL_END = 10n ** BigInt(DECIMAL_DIGITS)

/** How each kind of column is stored: a decimal as an integer of 16 bytes with its scale, 18, a time in milliseconds. */
const STORED: Readonly<Record<ColumnKind, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  integer: { type: 'INT64' },
  decimal: {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: DECIMAL_BYTES,
    converted_type: 'DECIMAL',
    precision: DECIMAL_DIGITS,
    scale: 18,
  },
  flag: { type: 'BOOLEAN' },
}

/**
 * Writes the rows as a file of Parquet, a group for each page, which alone is in memory. Returns how many there were. Throws NotFitting
 * at a decimal of more than 38 digits, and leaves no file of this name then.
 */
export async function writeParquet<Row>(
  path: string,
  columns: readonly Column<Row>[],
  pages: Iterable<readonly Row[]>,
): Promise<number> {
  const unfinished = `${path}.unfinished`
  const writer = new ParquetWriter({
    writer: fileWriter(unfinished),
    schema: [{ name: 'root', num_children: columns.length }, ...columns.map(schemaOf)],
    createdBy: 'venue',
  })
  let rows = 0
  for (const page of pages) {
    if (page.length === 0) continue
    const columnData = columns.map((column) => ({
      name: column.name,
      data: page.map((row) => cellOf(column, row)),
    }))
    await writer.write({ columnData, rowGroupSize: page.length })
    rows += page.length
  }
  await writer.finish()
  await rename(unfinished, path)
  return rows
}

/** What a row has no value of is null. */
const schemaOf = <Row>({ name, kind }: Column<Row>): SchemaElement => ({
  name,
  repetition_type: 'OPTIONAL',
  ...STORED[kind],
})

function cellOf<Row>(column: Column<Row>, row: Row): unknown {
  const value = column.of(row) ?? null
  if (value === null) return null
  if (column.kind === 'time') return new Date(Number(value))
  if (typeof value === 'number') return BigInt(value)
  if (typeof value === 'bigint') return fitting(column.name, value)
  return value
}

/** A value that Parquet cannot hold. */
export class NotFitting extends Error {
  override readonly name = 'NotFitting'
}

function fitting(name: string, value: bigint): bigint {
  if (value < DECIMAL_END && value > -DECIMAL_END) return value
  throw new NotFitting(
    `a ${name} has more than ${DECIMAL_DIGITS} digits, which Parquet cannot hold: it is in the CSV file`,
  )
}
