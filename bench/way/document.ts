import { readFileSync, writeFileSync } from 'node:fs'
import { ROOT } from './product-files.js'
import { sectionsOf } from './sections.js'
import type { Way, WayFile } from './summary.js'

/** The page that names the files of the way. */
export const DOCUMENT = 'docs/ORDER-WAY.md'
const HEAD = `# The files that an order runs through

One sell order rests and one buy order takes it: the files of which a function runs for that, and by which process. A file after "also" does not run
for every order, or runs without an order as well. The files to read, in order, are in
[ARCHITECTURE](ARCHITECTURE.md#the-straight-line-of-an-order). Made by \`npm run way -- --write\`.
`
const COLUMNS = ['| section | process | files |', '| - | - | - |']
/** Title of the list of files that not every order needs. */
const ALSO = 'also '

/** The files that the document names. */
export interface DocumentFiles {
  /** Listed as files that run for every order. */
  readonly always: readonly string[]
  /** Listed as files that do not always run. */
  readonly also: readonly string[]
}

/** Differences between the document and the measurement, as paths. */
export interface Disagreement {
  /** Files in the document of which nothing ran. */
  readonly didNotRun: readonly string[]
  /** Files that ran for every order and only for orders, and that the document does not list. */
  readonly notNamed: readonly string[]
}

export const readDocument = (): string => readFileSync(`${ROOT}${DOCUMENT}`, 'utf8')

/** Writes the page of the measured files. */
export function writeDocument(way: Way): void {
  writeFileSync(`${ROOT}${DOCUMENT}`, wayPage(way))
}

/** The page of the measured files. */
export const wayPage = (way: Way): string => `${HEAD}\n${tableOf(way)}\n`

/** The files that a page names. */
export function namedIn(page: string): DocumentFiles {
  const cells = page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((row) => row.split(' | ').at(-1) ?? '')
  const split = cells.map((cell) => {
    const at = cell.indexOf(ALSO)
    return at < 0 ? [cell, ''] : [cell.slice(0, at), cell.slice(at)]
  })
  const pathsIn = (part: 0 | 1): string[] =>
    split.flatMap((cell) => [...(cell[part] ?? '').matchAll(/`([^`]+)`/g)].map(([, it = '']) => it))
  return { always: pathsIn(0), also: pathsIn(1) }
}

/** Differences between a document that names these files and the measurement. */
export function disagreementOf(named: DocumentFiles, way: Way): Disagreement {
  const ran = new Set(way.files.map(({ path }) => path))
  const known = new Set([...named.always, ...named.also])
  const needed = way.files.filter(({ kind }) => kind === 'order').map(({ path }) => path)
  return {
    didNotRun: named.always.filter((path) => !ran.has(path)),
    notNamed: needed.filter((path) => !known.has(path)),
  }
}

function tableOf(way: Way): string {
  const rows = sectionsOf(way).map(({ section, processes, files, also }) => {
    const cell = [listed('', files), listed(ALSO, also)].filter((part) => part !== '').join('; ')
    return `| ${section} | ${processes.map(inCode).join(', ')} | ${cell} |`
  })
  return [...COLUMNS, ...rows].join('\n')
}

const inCode = (text: string): string => `\`${text}\``

const listed = (before: string, files: readonly WayFile[]): string =>
  files.length === 0 ? '' : before + files.map(({ path }) => inCode(path)).join(', ')
