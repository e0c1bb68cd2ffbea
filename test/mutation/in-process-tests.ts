import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import ts from 'typescript'

/** What starts another process, and so runs code that no mutant is active in. */
const LEAVES_THE_PROCESS = /^(node:child_process|node:worker_threads)$/

/**
 * The thread of the one and the processes of the other run no code of a room: a thread for keys that another program signs
 * with, and in this test a program of its own.
 */
const STAY = [
  'chain/signing/external/external-signer.ts',
  'test/actors/matcher/supervise-matchers.test.ts',
]

/**
 * The compiled test files of the folders and files, from the root and in their order. A test whose imports lead to
 * another process (a bus server, a chain, a program of the venue) is left out.
 */
export function inProcessTests(
  root: string,
  paths: readonly string[],
  without: readonly string[] = [],
): string[] {
  const leaves = createLeavesProcess(root)
  return [...new Set(paths.flatMap((path) => testsOf(root, path)))]
    .filter((path) => !without.includes(path) && !leaves(path))
    .map((path) => `dist/${path.replace(/\.ts$/, '.js')}`)
}

function testsOf(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path]
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .toSorted()
    .map((name) => join(path, name))
}

function createLeavesProcess(root: string): (path: string) => boolean {
  const known = new Map<string, boolean>()
  const leaves = (path: string): boolean => {
    const before = known.get(path)
    if (before !== undefined) return before
    // A circle of imports adds nothing.
    known.set(path, false)
    const answer =
      !STAY.includes(path) &&
      importsOf(root, path).some((target) =>
        target.endsWith('.ts') ? leaves(target) : LEAVES_THE_PROCESS.test(target),
      )
    known.set(path, answer)
    return answer
  }
  return leaves
}

/** What a source imports: sources by their path from the root, packages by their name. */
function importsOf(root: string, path: string): string[] {
  return ts
    .preProcessFile(readFileSync(join(root, path), 'utf8'), true, true)
    .importedFiles.map(({ fileName }) =>
      /^\..*\.js$/.test(fileName)
        ? join(dirname(path), fileName).replace(/\.js$/, '.ts')
        : fileName,
    )
}
