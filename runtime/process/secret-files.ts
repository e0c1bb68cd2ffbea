import { readdirSync, statSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** Of any other user than the owner, as the readers of these files refuse it at their start. */
const ACCESS_OF_OTHERS = 0o077
/** A key in use, and beside it one whose transactions are followed to their end. */
const BESIDE = ['', '.retiring']

/** A file with a secret. */
export interface SecretFile {
  readonly path: string
  /** Whether another user of the machine may read or change it. */
  readonly isExposed: boolean
}

/**
 * The files with secrets at these paths, as they are now; what is absent, or in a directory that this user may not list, is
 * left out. A process checks its own at its start; rights that are given away afterwards are seen here alone.
 */
export function readSecretFiles(paths: readonly string[]): SecretFile[] {
  return [...new Set(paths.flatMap(filesAt))].toSorted().flatMap((path) => {
    const found = statOf(path)
    return found === undefined ? [] : [{ path, isExposed: (found.mode & ACCESS_OF_OTHERS) !== 0 }]
  })
}

function filesAt(path: string): string[] {
  if (statOf(path)?.isDirectory() !== true) return BESIDE.map((end) => `${path}${end}`)
  const names = tolerant(() => readdirSync(path)) ?? []
  return names.filter((name) => name.endsWith('.nk')).map((name) => join(path, name))
}

const statOf = (path: string): Stats | undefined => tolerant(() => statSync(path))

const PASSED_OVER: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EACCES'])

function tolerant<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (!PASSED_OVER.has((error as NodeJS.ErrnoException).code)) throw error
    return undefined
  }
}
