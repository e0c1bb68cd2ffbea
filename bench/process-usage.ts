import { readFileSync } from 'node:fs'

const MS_PER_TICK = 10
const UTIME = 11
const STIME = 12

/** Processor time that a process has used so far, user and system, in ms; Linux counts it in steps of 10 ms. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The program's name, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[UTIME]) + Number(fields[STIME])) * MS_PER_TICK
}

/** Memory of a process that is in RAM, and the most that ever was, in KiB. */
export function residentKibOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1])
  return { now: read('VmRSS'), peak: read('VmHWM') }
}
