import { readdirSync, readFileSync } from 'node:fs'

/** The rules of docs/rules, as tests read them. */

const folder = new URL('../../../docs/rules/', import.meta.url)

export interface Rule {
  readonly id: string
  readonly text: string
}

export interface Chapter {
  /** Its name in docs/rules. */
  readonly file: string
  readonly title: string
  readonly lines: readonly string[]
  readonly rules: readonly Rule[]
}

/** A line that states a rule: `- **ORD-001** A sentence.` */
export const RULE_LINE = /^- \*\*([A-Z]{3}-\d{3})\*\* (.*)$/

function readChapter(file: string): Chapter {
  const lines = readFileSync(new URL(file, folder), 'utf8').split('\n')
  const rules = lines.flatMap((line) => {
    const [, id, text] = RULE_LINE.exec(line) ?? []
    return id === undefined || text === undefined ? [] : [{ id, text }]
  })
  return { file, title: (lines[0] ?? '').replace(/^# /, ''), lines, rules }
}

export const chapters: readonly Chapter[] = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .sort()
  .map(readChapter)
  .filter(({ rules }) => rules.length > 0)

export const rules: readonly Rule[] = chapters.flatMap((chapter) => chapter.rules)
