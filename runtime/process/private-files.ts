import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const OTHERS = 0o077
const STICKY = 0o1000
/** Of a directory: what is made in it belongs to its group. */
const SET_GROUP = 0o2000
const OWNER_AND_GROUP = 0o660

/** From now on whatever this process and its children make can be read by its user alone. */
export const makePrivate = (): void => void process.umask(OTHERS)

/** Whether an operator has given the directory to a group: it has the set-group bit, with which what is made in it is the group's. */
export const isOfGroup = (directory: string): boolean =>
  ((tolerant(() => statSync(directory))?.mode ?? 0) & SET_GROUP) !== 0

/** As makePrivate, but the group of a directory that was given to it may read and change what is made there. */
export const makeOfGroup = (): void => void process.umask(0o007)

/**
 * Makes a database that is absent, so that in a directory of a group its members may read it: SQLite gives the files beside a
 * database its rights, and a reader has to write into one of them, or make it.
 */
export function shareAsItsDirectory(path: string): void {
  if (!isOfGroup(dirname(path))) return
  if (!existsSync(path)) closeSync(openSync(path, 'a', OWNER_AND_GROUP))
  for (const part of ['', '-wal', '-shm'])
    tolerant(() => chmodSync(`${path}${part}`, OWNER_AND_GROUP))
}

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
  // A directory with the sticky bit, as /tmp, is meant for all, and one with the set-group bit for a group.
  if ((found.mode & STICKY) !== 0) return
  if (found.isDirectory() && (found.mode & SET_GROUP) !== 0) return
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
