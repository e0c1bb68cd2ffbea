import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { historyPath } from '../../../data/history/project.js'
import { openSpanReader, type Span, type SpanReader } from '../../../data/history/read-span.js'
import { ReadModelAbsent } from '../../../data/history/read-model.js'
import { readTimestamp } from '../../../core/time.js'
import { OperatorOrderRefused } from '../../market-orders/order-refused.js'
import { withEachTable, type DayTable } from './day-tables.js'
import { writeCsv } from './write-csv.js'
import { NotFitting, writeParquet } from './write-parquet.js'

/** What is exported, and where to. */
export interface ExportTask {
  /** A day in UTC, as `2026-11-21`. */
  readonly date: string
  readonly dir: string
}

const DAY_MS = 86_400_000

/**
 * Writes the trades, candles, marks and funding of a day, of all markets, into files of a directory, which it makes, as CSV and as
 * Parquet. A file of this name is replaced, and is whole whenever it is there. Reads the projection beside a running venue. Returns
 * a line for each table. Throws OperatorOrderRefused when the text is no day, the day is not over, or there is no projection.
 */
export async function exportDay(
  { dataDir, nowMs }: { readonly dataDir: string; readonly nowMs: number },
  task: ExportTask,
): Promise<readonly string[]> {
  const span = spanOf(task.date, nowMs)
  const reader = openReader(historyPath(dataDir))
  try {
    await mkdir(task.dir, { recursive: true })
    const lines: string[] = []
    for (const write of withEachTable((table) => () => writeTable(reader, table, span, task)))
      lines.push(await write())
    return lines
  } finally {
    reader.close()
  }
}

async function writeTable<Row>(
  reader: SpanReader,
  table: DayTable<Row>,
  span: Span,
  { date, dir }: ExportTask,
): Promise<string> {
  const path = (ending: string): string => join(dir, `${table.name}-${date}.${ending}`)
  const rows = await writeCsv(path('csv'), table.columns, pagesOf(reader, table, span))
  const unfit = await writeParquet(
    path('parquet'),
    table.columns,
    pagesOf(reader, table, span),
  ).then(() => undefined, notFitting)
  if (unfit === undefined) return `${path('csv')}, ${path('parquet')}: ${rows} rows`
  // One that an earlier export has left would not be of these rows.
  for (const end of ['', '.unfinished']) await rm(`${path('parquet')}${end}`, { force: true })
  return `${path('csv')}: ${rows} rows; no Parquet: ${unfit}`
}

/** One trade of a wide price, which its traders may choose, keeps no other table from being written. */
function notFitting(error: unknown): string {
  if (error instanceof NotFitting) return error.message
  throw error
}

/** The rows of all markets, one after the other. */
function* pagesOf<Row>(
  reader: SpanReader,
  table: DayTable<Row>,
  span: Span,
): Generator<readonly Row[]> {
  for (const market of reader.markets()) yield* table.pages(reader, market, span)
}

function spanOf(date: string, nowMs: number): Span {
  const begin = /^\d{4}-\d\d-\d\d$/.test(date) ? readTimestamp(`${date}T00:00:00Z`) : undefined
  if (begin === undefined) throw new OperatorOrderRefused(`${date} is not a day such as 2026-11-21`)
  const fromMs = begin.sec * 1_000
  const endMs = fromMs + DAY_MS
  if (endMs > nowMs) throw new OperatorOrderRefused(`${date} is not over yet, in UTC`)
  return { fromMs, endMs }
}

function openReader(path: string): SpanReader {
  try {
    return openSpanReader(path)
  } catch (error) {
    if (!(error instanceof ReadModelAbsent)) throw error
    throw new OperatorOrderRefused(`${error.message}: set DATA_DIR to that of a projector`)
  }
}
