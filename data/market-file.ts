import { existsSync } from 'node:fs'
import { writeJsonDurably } from './durable-file.js'
import { defaultMarketFile, readRows } from './markets.js'
import { rowOfNextSeries } from './series-row.js'

const isNamed = (row: unknown, market: string): boolean =>
  typeof row === 'object' && row !== null && (row as { market?: unknown }).market === market

/**
 * Writes the rows that ship with the venue, of these markets alone if any are named, and one for each series with such an
 * expiry (unix seconds), unless the file exists. The first start of the venue imports it.
 */
export async function provideMarketFile(
  file: string,
  markets?: readonly string[],
  series: readonly number[] = [],
): Promise<void> {
  if (existsSync(file)) return
  const shipped = readRows(defaultMarketFile)
  const rows = shipped.filter((row) => markets?.some((market) => isNamed(row, market)) ?? true)
  for (const expirySec of series) rows.push(rowOfNextSeries(rows, expirySec))
  await writeJsonDurably(file, rows)
}
