import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { writeFileDurably } from '../../data/durable-file.js'
import { LauncherError } from './wait-for.js'

/** It also marks a directory as a venue's: `./venue reset` deletes only marked directories. */
export const LOCK_FILE = 'venue.lock'

/** Makes the data directory if there is none. Throws LauncherError when files cannot be written there. */
export function provideDataDir(dataDir: string): void {
  try {
    makeFolder(dataDir)
    closeSync(openSync(join(dataDir, LOCK_FILE), 'a+', 0o600))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isFile = code === 'EEXIST' || code === 'ENOTDIR'
    const why = isFile ? 'a file is in its place' : message
    throw new LauncherError(`DATA_DIR ${dataDir} cannot be written (${why}); set DATA_DIR`)
  }
}

/** Makes the secret that matchers and executor share, 32 random bytes as hex in a file of the venue's user, unless it is there. */
export async function provideExecutorSecret(file: string): Promise<void> {
  if (existsSync(file)) return
  await writeFileDurably(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
}

/** Where the processes of a venue write the addresses of their metrics. */
export const metricsDir = (dataDir: string): string => join(dataDir, 'metrics')

/**
 * Removes the addresses of the last run; only the holder of the lock may. The address of a process that this run does not have,
 * such as a market maker that is switched off, would be down for ever.
 */
export const forgetMetrics = (dataDir: string): void =>
  rmSync(metricsDir(dataDir), { recursive: true, force: true })

/** Like a recursive mkdirSync, which never returns where the system lets nothing be made, as below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

/**
 * Locks a data directory for this process; returns the function that releases it. Throws LauncherError when another
 * launcher holds it. The kernel ties the lock to our open file, so that a stale lock cannot exist.
 */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, LOCK_FILE)
  const fd = openSync(file, 'a+', 0o600)
  const { status, error } = spawnSync('flock', ['--nonblock', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', fd],
  })
  if (status !== 0) {
    closeSync(fd)
    if (error !== undefined)
      throw new LauncherError('flock (package util-linux) cannot be run', { cause: error })
    const holder = readFileSync(file, 'utf8').trim()
    throw new LauncherError(
      `${dataDir} is in use by the launcher with process id ${holder || 'unknown'}; ` +
        'stop it, or give this venue a DATA_DIR and ports of its own',
    )
  }
  ftruncateSync(fd)
  writeSync(fd, `${process.pid}\n`)
  return () => closeSync(fd)
}
