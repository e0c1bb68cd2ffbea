import { readFileSync } from 'node:fs'

/** A process id alone is reused by the system; together with the boot and the start time it names one process. */
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
