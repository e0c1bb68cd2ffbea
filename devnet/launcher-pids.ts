import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { signalGroup } from './child.js'
import { identify, isRunning } from './process-identity.js'
import type { ProcessIdentity } from './process-identity.js'
import { waitFor } from './wait-for.js'
import { writeJsonDurably } from './write-file.js'

const ORPHAN_GRACE_MS = 3_000
const ORPHAN_KILL_MS = 2_000

const identity = z.object({ pid: z.int().positive(), started: z.string() })
const schema = z.object({ launcher: identity, processes: z.record(z.string(), identity) })

/** `DATA_DIR/pids.json`: who runs for this data directory. */
export type PidsFile = z.infer<typeof schema>

/** The path of a data directory's list of processes. */
export const pidsFile = (dataDir: string): string => join(dataDir, 'pids.json')

/** Keeps `pids.json` in step with what runs; writes follow each other in order. */
export interface PidsKeeper {
  set(name: string, pid: number): Promise<void>
  remove(name: string): Promise<void>
  /** Resolves when all that was recorded is on disk. */
  flush(): Promise<void>
}

/** Starts a new list for this launcher. */
export function keepPids(dataDir: string): PidsKeeper {
  const processes = new Map<string, ProcessIdentity>()
  const launcher = identify(process.pid)
  let last = Promise.resolve()
  const write = () => {
    last = last.then(() =>
      writeJsonDurably(pidsFile(dataDir), { launcher, processes: Object.fromEntries(processes) }),
    )
    return last
  }
  return {
    set: (name, pid) => {
      const found = identify(pid)
      if (found === undefined) processes.delete(name)
      else processes.set(name, found)
      return write()
    },
    remove: (name) => {
      processes.delete(name)
      return write()
    },
    flush: () => last,
  }
}

/** What an earlier launcher of this directory recorded; undefined when there is no readable record. */
export async function readPids(dataDir: string): Promise<PidsFile | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(pidsFile(dataDir), 'utf8')))
  } catch {
    return undefined
  }
}

/**
 * Ends every process that an earlier launcher of this directory left behind; resolves with their names. Call it with
 * the directory's lock held: then that launcher is gone, and nobody but we may write here.
 */
export async function endOrphans(dataDir: string): Promise<string[]> {
  const recorded = Object.entries((await readPids(dataDir))?.processes ?? {})
  const orphans = recorded.filter(([, process]) => isRunning(process))
  const allGone = () =>
    Promise.resolve(orphans.every(([, process]) => !isRunning(process)) || undefined)
  for (const [, { pid }] of orphans) signalGroup(pid, 'SIGTERM')
  try {
    await waitFor('leftover processes to end', ORPHAN_GRACE_MS, allGone)
  } catch {
    for (const [, orphan] of orphans) if (isRunning(orphan)) signalGroup(orphan.pid, 'SIGKILL')
    await waitFor('leftover processes to be killed', ORPHAN_KILL_MS, allGone)
  }
  return orphans.map(([name]) => name)
}
