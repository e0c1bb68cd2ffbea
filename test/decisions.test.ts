import { expect } from 'chai'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** The records of docs/decisions have one head and one order of their parts, and the index is made of them. */

const FOLDER = new URL('../../docs/decisions/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8')

const INDEX = 'README.md'
const INDEX_HEAD = `# Decisions

Each record states a choice that a reader may question: its date and status, context, decision, what was rejected, consequence. A
record covers what was decided together; a later decision changes it. What the venue promises is in [rules](../rules/README.md), records give the
reasons. Numbers are not reused. Made by
\`WRITE_DOCS=1 ./venue test dist/test/decisions.test.js\`.
`

const LINK = '\\[\\d{4}\\]\\(\\d{4}-[a-z0-9.-]+\\.md\\)'
const STATUS = new RegExp(
  `^(\\d{4}-\\d{2}-\\d{2}), (in force|(in part )?superseded by ${LINK}( and ${LINK})*)\\.$`,
)

const names = readdirSync(FOLDER)
  .filter((name) => /^\d{4}-/.test(name))
  .sort()

const titleOf = (name: string): string => read(name).split('\n')[0]?.replace(/^# /, '') ?? ''

const indexPage = (): string =>
  `${INDEX_HEAD}\n${names.map((name) => `- [${name.slice(0, 4)}](${name}) ${titleOf(name)}\n`).join('')}`

describe('the records of docs/decisions', () => {
  it('have numbers that differ', () => {
    const numbers = names.map((name) => name.slice(0, 4))
    expect(new Set(numbers).size).to.equal(numbers.length)
  })

  for (const name of names) {
    it(`${name} has a title, a date with a status, and its parts in order`, () => {
      const [title = '', blank, status = '', ...body] = read(name).split('\n')
      expect(title).to.match(/^# [^\d ]/)
      expect(blank).to.equal('')
      expect(status, 'for example: 2026-11-21, in force.').to.match(STATUS)
      const [, date = ''] = STATUS.exec(status) ?? []
      expect(new Date(date).toISOString().slice(0, 10)).to.equal(date)
      const parts = [...body.join('\n').matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, part]) => part)
      // One that holds no more is a paragraph that says what took its place.
      const expected = /, superseded by/.test(status) ? [] : ['Context', 'Decision', 'Consequence']
      expect(parts.filter((part) => part !== 'Rejected')).to.deep.equal(expected)
    })
  }

  it(`${INDEX} lists them by their titles`, () => {
    if (process.env.WRITE_DOCS === '1') writeFileSync(new URL(INDEX, FOLDER), indexPage())
    expect(read(INDEX)).to.equal(indexPage())
  })
})
