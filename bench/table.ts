import type { Goal, KeptReport, Row } from './bench.js'
import { median } from './rounds.js'

const HEAD = ['', 'median', 'min – max', 'to reach', '']
const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** Three significant digits, with thousands separators. */
function numberText(value: number): string {
  if (Math.abs(value) >= 100) return GROUPED.format(value)
  return value.toFixed(Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3)
}

const withUnit = (text: string, unit: string): string => (unit === 'x' ? `${text}x` : text)

/** Whether the median reaches the goal. */
export function isReached(values: readonly number[], goal: Goal): boolean {
  return 'atLeast' in goal ? median(values) >= goal.atLeast : median(values) <= goal.atMost
}

function cellsOf({ what, unit, values, goal }: Row): string[] {
  const range = `${numberText(Math.min(...values))} – ${numberText(Math.max(...values))}`
  const wanted =
    goal === undefined ? '' : 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`
  return [
    unit === 'x' ? what : `${what}, ${unit}`,
    withUnit(numberText(median(values)), unit),
    range,
    goal === undefined ? '' : withUnit(wanted, unit),
    goal === undefined ? '' : isReached(values, goal) ? 'reached' : 'missed',
  ]
}

/** The rows as an aligned Markdown table. */
export function tableOf(rows: readonly Row[]): string {
  const cells = [HEAD, ...rows.map(cellsOf)]
  const widths = HEAD.map((_, column) =>
    Math.max(3, ...cells.map((row) => (row[column] ?? '').length)),
  )
  const isNumber = (column: number): boolean => column > 0 && column < HEAD.length - 1
  const line = (row: readonly string[]): string => {
    const padded = widths.map((width, column) => {
      const text = row[column] ?? ''
      return isNumber(column) ? text.padStart(width) : text.padEnd(width)
    })
    return `| ${padded.join(' | ')} |`
  }
  const rule = widths.map((width, column) =>
    isNumber(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  )
  const [head = [], ...body] = cells
  return [line(head), `| ${rule.join(' | ')} |`, ...body.map(line)].join('\n')
}

/** The text of one report, as printed. */
export function sectionOf(report: KeptReport): string {
  const { name, title, at, size, tookSec, machine, rows, notes = [] } = report
  const where = Object.entries(machine).map(([key, value]) => `${key} ${value}`)
  const rounds = rows[0]?.values.length ?? 0
  const when = `${at.slice(0, 10)}, ${rounds} rounds in ${Math.round(tookSec)} s${size === 'usual' ? '' : `, ${size}`}`
  const parts = [`### ${name}`, title, tableOf(rows), ...notes, `${when}: ${where.join(', ')}.`]
  return parts.join('\n\n')
}
