import { readFileSync, writeFileSync } from 'node:fs'
import { ROOT } from './product-files.js'
import { sectionsOf } from './sections.js'
import type { Way, WayFile } from './summary.js'

/** The document that names the files of the way. */
export const DOCUMENT = 'docs/ARCHITECTURE.md'
const BEGIN = '<!-- way -->\n'
const END = '<!-- /way -->'
const HEAD = ['| section | process | files |', '| - | - | - |']
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

/** Writes the measured files into the document. */
export function writeDocument(way: Way): void {
  writeFileSync(`${ROOT}${DOCUMENT}`, withWay(readDocument(), way))
}

/** The text of a document with the measured files in its section. */
export function withWay(text: string, way: Way): string {
  const { before, after } = partsOf(text)
  return `${before}${BEGIN}\n${tableOf(way)}\n\n${END}${after}`
}

/** The files in the section of a document's text. */
export function namedIn(text: string): DocumentFiles {
  const cells = partsOf(text)
    .section.split('\n')
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
  return [...HEAD, ...rows].join('\n')
}

const inCode = (text: string): string => `\`${text}\``

const listed = (before: string, files: readonly WayFile[]): string =>
  files.length === 0 ? '' : before + files.map(({ path }) => inCode(path)).join(', ')

function partsOf(text: string): { before: string; section: string; after: string } {
  const from = text.indexOf(BEGIN)
  const to = text.indexOf(END)
  if (from < 0 || to < from) throw new Error(`${DOCUMENT} has no place between ${BEGIN} and ${END}`)
  const section = text.slice(from + BEGIN.length, to)
  return { before: text.slice(0, from), section, after: text.slice(to + END.length) }
}
