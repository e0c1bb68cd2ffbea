import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format } from 'prettier'
import type { KeptReport } from './bench.js'
import { BENCHES } from './benches.js'
import { keptReports } from './results.js'
import { isReached, sectionOf } from './table.js'

const README = fileURLToPath(new URL('../../bench/README.md', import.meta.url))
const BEGIN = '<!-- figures: written by npm run bench -- --write -->'
const END = '<!-- end of figures -->'

/** Writes the newest reports into README.md; a bench without a report here keeps its section. */
export async function writeReadme(): Promise<void> {
  const text = readFileSync(README, 'utf8')
  const [before, rest] = text.split(`${BEGIN}\n`)
  const [old, after] = rest?.split(END) ?? []
  if (before === undefined || old === undefined || after === undefined) {
    throw new Error(`${README} has no place for the figures`)
  }
  const reports = keptReports()
  const sections = Object.keys(BENCHES).flatMap((name) => {
    const report = reports.get(name)
    if (report !== undefined && report.size !== 'tiny') return [sectionOf(report)]
    return sectionsIn(old).filter((section) => section.startsWith(`### ${name}\n`))
  })
  const figures = sections.join('\n\n')
  const written = `${before}${BEGIN}\n\n${figures}\n\n${END}${after}`
  writeFileSync(README, await format(written, { parser: 'markdown', printWidth: 100 }))
}

const sectionsIn = (figures: string): string[] =>
  figures.split(/^(?=### )/m).map((section) => section.trim())

/** Missed goals of the report, a line each. */
export function missedOf({ name, rows }: KeptReport): string[] {
  return rows
    .filter(({ values, goal }) => goal !== undefined && !isReached(values, goal))
    .map(({ what }) => `${name}, ${what}`)
}
