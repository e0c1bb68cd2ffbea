import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { signalGroup } from './child.js'
import { writeJsonDurably } from '../../data/durable-file.js'
import { waitFor } from './wait-for.js'

const ORPHAN_GRACE_MS = 3_000
/** No process survives it; a busy machine may take long to free the memory. */
const ORPHAN_KILL_MS = 60_000

const identity = z.object({ pid: z.int().positive(), started: z.string() })
const schema = z.object({ launcher: identity, processes: z.record(z.string(), identity) })

/** `DATA_DIR/pids.json`: the processes of this data directory. */
export type PidsFile = z.infer<typeof schema>

/** The path of a data directory's list of processes. */
export const pidsFile = (dataDir: string): string => join(dataDir, 'pids.json')

/** Keeps `pids.json` up to date with the running processes; writes are sequential. */
export interface PidsKeeper {
  set(name: string, pid: number): Promise<void>
  remove(name: string): Promise<void>
  /** Resolves when every recorded change is on disk. */
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

/** The record of an earlier launcher of this directory; undefined when it is absent or unreadable. */
export async function readPids(dataDir: string): Promise<PidsFile | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(pidsFile(dataDir), 'utf8')))
  } catch {
    return undefined
  }
}

/**
 * Ends every process that an earlier launcher of this directory left behind; resolves with their names. Call it with
 * the directory's lock held: then that launcher has ended, and this process is the only writer.
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

/** The system reuses process ids; an id together with the boot and the start time identifies one process. */
export interface ProcessIdentity {
  readonly pid: number
  /** `<boot id>/<start time in clock ticks since boot>`. */
  readonly started: string
}

const START_TIME_FIELD_AFTER_NAME = 19

/** The identity of a running process; undefined when there is none with this id. */
export function identify(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z') return undefined
    return { pid, started: `${boot}/${fields[START_TIME_FIELD_AFTER_NAME]}` }
  } catch {
    return undefined
  }
}

/** Whether this very process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started
}
