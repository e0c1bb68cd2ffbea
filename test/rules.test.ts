import { expect } from 'chai'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chapters, RULE_LINE, rules } from './support/rules.js'

/** The rules of docs/rules: their ids follow each other, and each is cited by a test. */

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const TABLE = 'docs/rules/TESTS.md'
const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'bundle', 'var', '.tools', '.cache'])
const TEXT = /\.(ts|js|sol|md|book|json|html|sh|yaml|conf|patch)$/

function walk(folder: string): string[] {
  return readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`
    if (folder === '' && NOT_OURS.has(entry.name)) return []
    return entry.isDirectory() ? walk(`${path}/`) : TEXT.test(path) ? [path] : []
  })
}

const prefixOf = (id: string): string => id.slice(0, 3)
const prefixes = new Set(rules.map(({ id }) => prefixOf(id)))
const CITED = new RegExp(`\\b(?:${[...prefixes].join('|')})-\\d{3}\\b`, 'g')

/** A code of a text that is not in the repository. */
const FOREIGN = /\bdecisions? [A-Z]\d|\binterface \d/

/** The rules that each file cites; the rules' own folder cites none. */
const cited = new Map(
  walk('')
    .filter((path) => !path.startsWith('docs/rules/'))
    .map((path) => [path, new Set(read(path).match(CITED) ?? [])] as const),
)

const isTest = (path: string): boolean => /^test\/.*\.(ts|book)$/.test(path)

/** The tests that cite a rule, in order. */
const testsOf = (id: string): string[] =>
  [...cited].flatMap(([path, ids]) => (isTest(path) && ids.has(id) ? [path] : [])).sort()

/** The page that says which tests show a rule. */
function tablePage(): string {
  const sections = chapters.map(({ file, title, rules }) =>
    [
      ...[`## [${title}](${file})`, ''],
      ...['| rule | tests |', '| - | - |'],
      ...rules.map(({ id }) => {
        const tests = testsOf(id).map((test) => `\`${test.slice('test/'.length)}\``)
        return `| ${id} | ${tests.join(', ')} |`
      }),
    ].join('\n'),
  )
  const head =
    '# Tests of the rules\n\nMade by `WRITE_DOCS=1 ./venue test dist/test/rules.test.js`. Files are below `test/`.'
  return `${[head, ...sections].join('\n\n')}\n`
}

describe('the rules', () => {
  it('are in chapters, each with a prefix of its own', () => {
    for (const { file, rules } of chapters) {
      expect(new Set(rules.map(({ id }) => prefixOf(id))).size, file).to.equal(1)
    }
    expect(prefixes.size).to.equal(chapters.length)
  })

  it('have numbers from 1 on, none twice and none left out', () => {
    for (const { file, rules } of chapters) {
      const numbers = rules.map(({ id }) => Number(id.slice(4))).sort((a, b) => a - b)
      const expected = numbers.map((_, index) => index + 1)
      expect(numbers, file).to.deep.equal(expected)
    }
  })

  it('are sentences, and no two are the same', () => {
    const unlike = rules.filter(({ text }) => !/^[^a-z].*\.$/.test(text)).map(({ id }) => id)
    expect(unlike, 'begins with a capital and ends with a full stop').to.deep.equal([])
    expect(new Set(rules.map(({ text }) => text)).size).to.equal(rules.length)
  })

  it('have an id wherever a chapter lists something', () => {
    const without = chapters.flatMap(({ lines }) =>
      lines.filter((line) => /^\s*[-*]\s/.test(line) && !RULE_LINE.test(line)),
    )
    expect(without, '- **ABC-001** A sentence.').to.deep.equal([])
  })

  it('that are cited exist', () => {
    const known = new Set(rules.map(({ id }) => id))
    const unknown = [...cited].flatMap(([path, ids]) =>
      [...ids].filter((id) => !known.has(id)).map((id) => `${path}: ${id}`),
    )
    expect(unknown).to.deep.equal([])
  })

  it('are cited by their ids alone, not by codes of a text outside', () => {
    const foreign = [...cited.keys()].flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) => (FOREIGN.test(line) ? [`${path}:${index + 1}`] : [])),
    )
    expect(foreign, 'cite a rule of docs/rules').to.deep.equal([])
  })

  it('are each cited by a test', () => {
    const untested = rules.filter(({ id }) => testsOf(id).length === 0).map(({ id }) => id)
    expect(untested, 'cite the rule in the title of a test that shows it').to.deep.equal([])
  })

  it(`${TABLE} names the tests of each rule`, () => {
    // `WRITE_DOCS=1` writes it.
    if (process.env.WRITE_DOCS === '1') writeFileSync(new URL(TABLE, root), tablePage())
    expect(read(TABLE)).to.equal(tablePage())
  })
})
