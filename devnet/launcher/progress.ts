import { readdirSync, readFileSync } from 'node:fs'

/** What a running process has done so far, as far as it can be seen from outside. */
export interface LaunchProgress {
  /** It runs as this process group from now on. */
  started(name: string, pid: number): void
  ended(name: string): void
  /** A line of its output. */
  said(name: string, line: string): void
  /** Whether one of these has moved since the last call; the first call counts from the start. */
  hasMoved(names: readonly string[]): boolean
  /** Its last words, shortened; undefined when it has said nothing. */
  lastWords(name: string): string | undefined
}

/** A process that only waits and polls uses less; one that works uses more, even on a busy machine. */
const WORKS_FROM_MS = 2_000
/** Most different lines that count; a process that goes on for ever must not make up new ones. */
const LINES_AT_MOST = 200
/** The work of a process that ended this often is the work of starting again. */
const ENDS_AT_MOST = 2
const LONGEST_WORDS = 300

interface ProcessSigns {
  pid: number | undefined
  ends: number
  hasSaid: boolean
  readonly lines: Set<string>
  last: string | undefined
  /** Processor time of the group up to which it was counted. */
  countedMs: number
}

/**
 * A process moves when it says what it has not said before, apart from numbers, or has worked for two seconds of processor time. A
 * process that ends again and again says the same, and its work does not count.
 */
export function watchProgress(
  cpuOf: () => ReadonlyMap<number, number> = groupCpuMs,
): LaunchProgress {
  const seen = new Map<string, ProcessSigns>()
  const of = (name: string): ProcessSigns => {
    const known = seen.get(name)
    if (known !== undefined) return known
    const fresh: ProcessSigns = {
      pid: undefined,
      ends: 0,
      hasSaid: false,
      lines: new Set<string>(),
      last: undefined,
      countedMs: 0,
    }
    seen.set(name, fresh)
    return fresh
  }
  const hasWorked = (process: ProcessSigns, cpuMs: ReadonlyMap<number, number>): boolean => {
    if (process.pid === undefined || process.ends > ENDS_AT_MOST) return false
    const usedMs = cpuMs.get(process.pid) ?? 0
    // A child of the group that has ended takes its time along.
    process.countedMs = Math.min(process.countedMs, usedMs)
    if (usedMs - process.countedMs < WORKS_FROM_MS) return false
    process.countedMs = usedMs
    return true
  }
  return {
    started: (name, pid) => Object.assign(of(name), { pid, countedMs: 0 }),
    ended: (name) => {
      const process = of(name)
      process.pid = undefined
      process.ends += 1
    },
    said: (name, line) => {
      const process = of(name)
      process.last = line
      const words = line.replace(/[0-9]+/g, '0')
      if (process.lines.has(words) || process.lines.size >= LINES_AT_MOST) return
      process.lines.add(words)
      process.hasSaid = true
    },
    hasMoved: (names) => {
      const cpuMs = cpuOf()
      const moved = names.map(of).map((process) => {
        const hasSaid = process.hasSaid
        process.hasSaid = false
        return hasWorked(process, cpuMs) || hasSaid
      })
      return moved.includes(true)
    },
    lastWords: (name) => seen.get(name)?.last?.slice(0, LONGEST_WORDS),
  }
}

/** Asks each time whether a process of its own group has worked since it was last asked. */
export function watchWork(pid: number): () => boolean {
  const progress = watchProgress()
  progress.started('it', pid)
  return () => progress.hasMoved(['it'])
}

/** Clock ticks of `/proc` on Linux. */
const TICK_MS = 10
/** Fields of `/proc/<pid>/stat` after the name: the process group, and the time in user and system mode. */
const GROUP = 2
const USER = 11
const SYSTEM = 12

/** Processor time of every process group of this machine, in ms. */
export function groupCpuMs(): ReadonlyMap<number, number> {
  const groups = new Map<number, number>()
  for (const pid of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
    const fields = statOf(pid)
    if (fields === undefined) continue
    const ticks = Number(fields[USER]) + Number(fields[SYSTEM])
    const group = Number(fields[GROUP])
    groups.set(group, (groups.get(group) ?? 0) + ticks * TICK_MS)
  }
  return groups
}

function statOf(pid: string): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}
