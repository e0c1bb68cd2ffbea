import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A fault that is planted in a copy of the tree, and the tests that must notice it. */
export interface PlantedFault {
  readonly name: string
  /** What is wrong, in a sentence. */
  readonly summary: string
  /** Test files from the root; each must have a failing test. */
  readonly tests: readonly string[]
  readonly hunks: readonly Hunk[]
}

/** Lines of one file that are replaced by others. */
interface Hunk {
  readonly path: string
  readonly before: string
  readonly after: string
}

const FOLDER = 'test/planted'

/** The faults of `test/planted/*.patch`: a sentence, the lines `fails: <test file>`, then a unified diff. */
export function readPlantedFaults(root: string): PlantedFault[] {
  return readdirSync(join(root, FOLDER))
    .filter((file) => file.endsWith('.patch'))
    .toSorted()
    .map((file) =>
      parseFault(file.replace(/\.patch$/, ''), readFileSync(join(root, FOLDER, file), 'utf8')),
    )
}

export function parseFault(name: string, text: string): PlantedFault {
  const start = text.search(/^--- /m)
  if (start < 0) throw new Error(`${name} has no diff`)
  const head = text.slice(0, start)
  const tests = [...head.matchAll(/^fails: (\S+)$/gm)].flatMap(([, path]) => path ?? [])
  const summary = head.replace(/^fails: .*$/gm, '').trim()
  return { name, summary, tests, hunks: readHunks(text.slice(start)) }
}

function readHunks(diff: string): Hunk[] {
  let path = ''
  const hunks: { path: string; before: string[]; after: string[] }[] = []
  for (const line of diff.trimEnd().split('\n')) {
    const target = /^\+\+\+ b\/(.+)$/.exec(line)?.[1]
    if (target !== undefined) path = target
    else if (line.startsWith('@@')) hunks.push({ path, before: [], after: [] })
    else if (!line.startsWith('--- ')) {
      const hunk = hunks.at(-1)
      if (hunk === undefined) throw new Error(`a line before the first hunk: ${line}`)
      const sign = line[0] ?? ' '
      const rest = line.slice(1)
      if (sign !== '+') hunk.before.push(rest)
      if (sign !== '-') hunk.after.push(rest)
    }
  }
  return hunks.map(({ path, before, after }) => ({
    path,
    before: textOf(before),
    after: textOf(after),
  }))
}

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

/**
 * The sources with the fault in them, by path. Lines are found by their text, wherever they stand. Throws when they do
 * not stand in the file exactly once: then the fault has to be planted anew.
 */
export function plant(
  { name, hunks }: PlantedFault,
  read: (path: string) => string,
): ReadonlyMap<string, string> {
  const changed = new Map<string, string>()
  for (const { path, before, after } of hunks) {
    const text = `\n${changed.get(path) ?? read(path)}`
    const lines = `\n${before}`
    const at = text.indexOf(lines)
    if (at < 0 || at !== text.lastIndexOf(lines)) {
      throw new Error(`${name} does not apply to ${path}: plant the fault anew, or remove it`)
    }
    const rest = text.slice(at + lines.length)
    changed.set(path, `${text.slice(0, at)}\n${after}${rest}`.slice(1))
  }
  return changed
}
