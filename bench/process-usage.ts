import { readFileSync, readdirSync } from 'node:fs'

const NS_PER_MS = 1_000_000

/** Processor time that the threads of a process have used so far, user and system, in ms with fractions. */
export function cpuMsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const times = threads.map((thread) => {
    const [ranNs] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    return Number(ranNs) / NS_PER_MS
  })
  return times.reduce((sum, ms) => sum + ms, 0)
}

/** Memory of a process, in KiB. */
export interface Memory {
  /** Every page that it maps: the program and its libraries count in each process that maps them. */
  readonly resident: number
  /** The same with each shared page divided by the number of its processes; sums over processes are what they take. */
  readonly proportional: number
}

export function memoryKibOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1])
  return { resident: read('Rss'), proportional: read('Pss') }
}

/** Resident memory of a process, in KiB. */
export function residentKibOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
}
