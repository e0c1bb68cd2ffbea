import { median, percentile } from '../rounds.js'
import type { Measured } from './measure.js'
import { linesOf, readCompiled } from './product-files.js'
import { keyOf, type RanFunction, type Take } from './takes.js'

/**
 * `order`: a function ran during every order and not without one; `sometimes`: during some orders; `background`: every
 * function that ran also runs without an order, so that the measurement cannot tell whether the order needs it.
 */
export type Kind = 'order' | 'sometimes' | 'background'

/** A file of the product of which a function ran during an order. */
export interface WayFile {
  readonly path: string
  readonly lines: number
  readonly kind: Kind
  /** Number of functions that ran for every order and not without one, by process; empty for the background. */
  readonly functions: Readonly<Record<string, number>>
  /** Processes in which it ran, by its kind. */
  readonly processes: readonly string[]
}

export interface Totals {
  readonly files: number
  readonly lines: number
  readonly medianLines: number
  readonly p90Lines: number
  readonly functions: number
  /** Lines of the compiled text of these functions, each once. */
  readonly functionLines: number
}

export interface Way {
  readonly idleMs: number
  readonly orders: number
  /** All recorded processes. */
  readonly processes: readonly string[]
  readonly files: readonly WayFile[]
  /** Of the kind `order`. */
  readonly orderOnly: Totals
  /** Functions that ran during every order in any process. */
  readonly withBackground: Totals
}

/** A function that ran in a process during an order. */
interface Seen {
  readonly process: string
  readonly key: string
  readonly file: string
  readonly isIdle: boolean
}

/** Computes the files of an order's way from the functions that ran with and without an order. */
export function summarize({ idle, idleMs, orders }: Measured): Way {
  const seen = orders.map((take) => seenIn(take, idle))
  const own = seen.map((all) => all.filter(({ isIdle }) => !isIdle))
  const ownFiles = own.map((all) => new Set(all.map(({ file }) => file)))
  const always = inEvery(ownFiles)
  const sometimes = new Set(ownFiles.flatMap((files) => [...files]))
  const paths = [...new Set(seen.flat().map(({ file }) => file))].sort()
  const files = paths.map((path): WayFile => {
    const kind = always.has(path) ? 'order' : sometimes.has(path) ? 'sometimes' : 'background'
    const of = (kind === 'background' ? seen : own).map((all) => all.filter(isOf(path)))
    const functions = kind === 'order' ? countByProcess(of) : {}
    const counted = Object.keys(functions)
    const ranIn = [...new Set(of.flat().map(({ process }) => process))]
    // Different functions of a file may run for different orders.
    const processes = counted.length > 0 ? counted : ranIn
    return { path, lines: linesOf(path), kind, functions, processes }
  })
  const everywhere = inEvery(seen.map((all) => new Set(all.map(({ file }) => file))))
  return {
    idleMs,
    orders: orders.length,
    files,
    processes: [...idle.keys()],
    orderOnly: totalsOf([...always], own),
    withBackground: totalsOf([...everywhere], seen),
  }
}

const isOf =
  (path: string) =>
  ({ file }: Seen): boolean =>
    file === path

function seenIn(take: Take, idle: Take): Seen[] {
  return [...take].flatMap(([process, ran]) =>
    [...ran.values()].map((it: RanFunction) => {
      const key = keyOf(it)
      return { process, key, file: it.file, isIdle: idle.get(process)?.has(key) === true }
    }),
  )
}

/** Functions that ran during every order, by process. */
function countByProcess(orders: readonly (readonly Seen[])[]): Record<string, number> {
  const counts: Record<string, number> = {}
  const names = orders.map((all) => new Set(all.map(({ process, key }) => `${process} ${key}`)))
  for (const name of inEvery(names)) {
    const [process = ''] = name.split(' ', 1)
    counts[process] = (counts[process] ?? 0) + 1
  }
  return counts
}

function totalsOf(paths: readonly string[], seen: readonly (readonly Seen[])[]): Totals {
  const lines = paths.map(linesOf)
  const keys = inEvery(seen.map((all) => new Set(all.map(({ key }) => key))))
  return {
    files: paths.length,
    lines: lines.reduce((sum, each) => sum + each, 0),
    medianLines: Math.round(median(lines)),
    p90Lines: Math.round(percentile(lines, 0.9)),
    functions: keys.size,
    functionLines: linesOfFunctions(keys),
  }
}

/** A function inside of another one counts as a part of it. */
function linesOfFunctions(keys: ReadonlySet<string>): number {
  const lines = new Map<string, Set<number>>()
  for (const key of keys) {
    const [, file = '', from, to] = /^(.*):(\d+)-(\d+)$/.exec(key) ?? []
    const last = readCompiled(file).slice(0, Number(to)).split('\n').length
    const first = readCompiled(file).slice(0, Number(from)).split('\n').length
    const known = lines.get(file) ?? new Set<number>()
    for (let line = first; line <= last; line += 1) known.add(line)
    lines.set(file, known)
  }
  return [...lines.values()].reduce((sum, { size }) => sum + size, 0)
}

function inEvery(sets: readonly ReadonlySet<string>[]): Set<string> {
  const [first = new Set<string>(), ...others] = sets
  return new Set([...first].filter((each) => others.every((set) => set.has(each))))
}
