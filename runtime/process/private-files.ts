import { chmodSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

const OTHERS = 0o077
const STICKY = 0o1000

/** From now on whatever this process and its children make can be read by its user alone. */
export const makePrivate = (): void => void process.umask(OTHERS)

/**
 * Takes the rights of others from a directory and what is in it: files that an earlier release made, or a copy that was put there.
 * Links in it are not followed; what belongs to another user, cannot be changed because it is mounted read-only, or is gone by
 * now, is passed over.
 */
export function keepPrivate(path: string, { isDeep = true } = {}): void {
  const directory = tolerant(() => realpathSync(path))
  if (directory !== undefined) tighten(directory, isDeep)
}

function tighten(path: string, isDeep: boolean): void {
  const found = tolerant(() => lstatSync(path))
  if (found === undefined || found.isSymbolicLink()) return
  // A directory with the sticky bit, as /tmp, is meant for all.
  if ((found.mode & STICKY) !== 0) return
  if ((found.mode & OTHERS) !== 0) tolerant(() => chmodSync(path, found.mode & 0o700))
  if (!found.isDirectory()) return
  for (const entry of tolerant(() => readdirSync(path, { withFileTypes: true })) ?? []) {
    if (isDeep || !entry.isDirectory()) tighten(join(path, entry.name), isDeep)
  }
}

const PASSED_OVER: ReadonlySet<string | undefined> = new Set([
  ...['ENOENT', 'EPERM', 'EACCES', 'EROFS', 'ENOTSUP'],
])

function tolerant<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (!PASSED_OVER.has((error as NodeJS.ErrnoException).code)) throw error
    return undefined
  }
}
