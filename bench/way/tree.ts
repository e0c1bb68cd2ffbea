import { dirname, join } from 'node:path/posix'
import ts from 'typescript'
import { median, percentile } from '../rounds.js'
import { linesOf, productFiles, readSource, roomOf } from './product-files.js'

const SMALL_LINES = 30

/** Sizes of the product's files and functions. */
export interface Tree {
  readonly rooms: Readonly<Record<string, { readonly files: number; readonly lines: number }>>
  readonly files: number
  readonly lines: number
  readonly functions: number
  readonly linesPerFile: Spread
  readonly linesPerFunction: Spread
  /** Files by their number of importers in the product. */
  readonly importedBy: {
    readonly none: number
    readonly one: number
    readonly more: number
  }
  readonly fullestFolder: { readonly folder: string; readonly files: number }
  /** Files of fewer than 30 lines. */
  readonly small: number
}

export interface Spread {
  readonly median: number
  readonly p90: number
}

/** Reads every source of the product; tests and benches do not count as importers. */
export function measureTree(): Tree {
  const files = productFiles()
  const lines = files.map(linesOf)
  const functions = files.flatMap(functionLines)
  const rooms: Record<string, { files: number; lines: number }> = {}
  for (const path of files) {
    const room = (rooms[roomOf(path)] ??= { files: 0, lines: 0 })
    room.files += 1
    room.lines += linesOf(path)
  }
  return {
    rooms,
    files: files.length,
    lines: lines.reduce((sum, each) => sum + each, 0),
    functions: functions.length,
    linesPerFile: spreadOf(lines),
    linesPerFunction: spreadOf(functions),
    importedBy: importersOf(files),
    fullestFolder: fullestOf(files),
    small: lines.filter((count) => count < SMALL_LINES).length,
  }
}

const spreadOf = (values: readonly number[]): Spread => ({
  median: Math.round(median(values)),
  p90: Math.round(percentile(values, 0.9)),
})

/** The length of every function of a file. */
function functionLines(path: string): number[] {
  const file = ts.createSourceFile(path, readSource(path), ts.ScriptTarget.Latest, true)
  const lengths: number[] = []
  const lineAt = (position: number): number => file.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined)
      lengths.push(lineAt(node.getEnd()) - lineAt(node.getStart()) + 1)
    node.forEachChild(visit)
  }
  visit(file)
  return lengths
}

function importersOf(files: readonly string[]): Tree['importedBy'] {
  const importers = new Map(files.map((path) => [path, new Set<string>()]))
  for (const path of files)
    for (const { fileName } of ts.preProcessFile(readSource(path), true, true).importedFiles) {
      const target = join(dirname(path), fileName).replace(/\.js$/, '.ts')
      if (fileName.startsWith('.')) importers.get(target)?.add(path)
    }
  const counts = [...importers.values()].map(({ size }) => size)
  return {
    none: counts.filter((count) => count === 0).length,
    one: counts.filter((count) => count === 1).length,
    more: counts.filter((count) => count > 1).length,
  }
}

function fullestOf(files: readonly string[]): Tree['fullestFolder'] {
  const counts = new Map<string, number>()
  for (const path of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  const [fullest] = [...counts].sort(([, one], [, other]) => other - one)
  return { folder: fullest?.[0] ?? '', files: fullest?.[1] ?? 0 }
}
