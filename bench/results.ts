import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { KeptReport, Row } from './bench.js'
import { median } from './rounds.js'
import { isReached } from './table.js'

/** Folder of the reports; not part of the repository. */
const RESULTS = fileURLToPath(new URL('../../bench/results/', import.meta.url))

/** A row with its derived columns of the table, for readers of the file. */
export function summed(row: Row) {
  const { values, goal } = row
  const spread = { median: median(values), min: Math.min(...values), max: Math.max(...values) }
  return { ...row, ...spread, ...(goal !== undefined && { reached: isReached(values, goal) }) }
}

/** Writes a report over the bench's last one, and returns the path. */
export function keepReport(report: KeptReport): string {
  mkdirSync(RESULTS, { recursive: true })
  const path = `${RESULTS}${report.name}.json`
  const kept = { ...report, rows: report.rows.map(summed) }
  writeFileSync(path, `${JSON.stringify(kept, undefined, 2)}\n`)
  return path
}

/** The last stored report of each bench, by name; tiny runs store none. */
export function keptReports(): Map<string, KeptReport> {
  mkdirSync(RESULTS, { recursive: true })
  const reports = readdirSync(RESULTS)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(`${RESULTS}${name}`, 'utf8')) as KeptReport)
  return new Map(reports.map((report) => [report.name, report]))
}

/** Missed goals of the report, a line each. */
export function missedOf({ name, rows }: KeptReport): string[] {
  return rows
    .filter(({ values, goal }) => goal !== undefined && !isReached(values, goal))
    .map(({ what }) => `${name}, ${what}`)
}
