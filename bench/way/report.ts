import { inWayOrder, sectionName } from './sections.js'
import type { Totals, Way, WayFile } from './summary.js'
import type { Spread, Tree } from './tree.js'

const GROUPED = new Intl.NumberFormat('en')
const number = (value: number): string => GROUPED.format(value)

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0)

/**
 * The way as text: every process with its files, then files that run sometimes or also without an order, then the
 * totals.
 */
export function wayText(way: Way): string {
  const of = (kind: WayFile['kind']): WayFile[] => way.files.filter((file) => file.kind === kind)
  return [
    ...inWayOrder(way.processes).map((process) => processText(process, of('order'))),
    listText('not for every order', of('sometimes')),
    listText('without an order as well', of('background')),
    `${way.orders} orders, beside ${number(Math.round(way.idleMs))} ms without one`,
    totalsText('order only', way.orderOnly),
    totalsText('with background', way.withBackground),
  ].join('\n\n')
}

function processText(process: string, all: readonly WayFile[]): string {
  const files = all.filter(({ functions }) => functions[process] !== undefined)
  const functions = sum(files.map((file) => file.functions[process] ?? 0))
  const section = sectionName(process)
  const title = section === '' ? process : `${process} (${section})`
  const counts = `${files.length} files, ${number(sum(files.map(({ lines }) => lines)))} lines`
  if (files.length === 0) return `${title}: nothing of an order`
  const rows = files.map(({ path, lines, functions: by }) => row(lines, by[process] ?? 0, path))
  const head = '  lines  functions'
  return [`${title}: ${counts}, ${functions} functions`, head, ...rows].join('\n')
}

const row = (lines: number, functions: number, path: string): string =>
  `  ${String(lines).padStart(5)}  ${String(functions).padStart(9)}  ${path}`

function listText(title: string, files: readonly WayFile[]): string {
  const rows = files.map(({ path, processes }) => `  ${path}  (${processes.join(', ')})`)
  return [`${title}: ${files.length} files`, ...rows].join('\n')
}

function totalsText(title: string, totals: Totals): string {
  const { files, lines, medianLines, p90Lines, functions, functionLines } = totals
  const perFile = `median ${medianLines} and p90 ${p90Lines} lines a file`
  return `${title}: ${files} files, ${number(lines)} lines, ${perFile}, ${number(functions)} functions of ${number(functionLines)} lines run`
}

/** The whole tree as text. */
export function treeText(tree: Tree): string {
  const rooms = Object.entries(tree.rooms).map(
    ([room, { files, lines }]) =>
      `  ${room.padEnd(16)}${String(files).padStart(5)} files${number(lines).padStart(8)} lines`,
  )
  const { linesPerFile, linesPerFunction, importedBy, fullestFolder } = tree
  return [
    `the product: ${tree.files} files, ${number(tree.lines)} lines, ${number(tree.functions)} functions`,
    spreadText('lines a file', linesPerFile),
    spreadText('lines a function', linesPerFunction),
    `  files with exactly one importer: ${importedBy.one}; with none: ${importedBy.none}; with more: ${importedBy.more}`,
    `  files in the fullest folder: ${fullestFolder.files} (${fullestFolder.folder})`,
    `  files under 30 lines: ${tree.small}`,
    ...rooms,
  ].join('\n')
}

const spreadText = (what: string, { median, p90 }: Spread): string =>
  `  ${what}: median ${median}, p90 ${p90}`
