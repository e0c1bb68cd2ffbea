import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { LauncherError } from './launcher-error.js'

/** Its presence also marks a directory as a venue's: `./venue reset` removes nothing else. */
export const LOCK_FILE = 'venue.lock'

/**
 * Takes a data directory for this process; returns how to give it back. Throws LauncherError when another launcher has
 * it. The kernel holds the lock with our open file, so it ends with us however we end, and a stale one cannot exist.
 */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, LOCK_FILE)
  const fd = openSync(file, 'a+', 0o644)
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
