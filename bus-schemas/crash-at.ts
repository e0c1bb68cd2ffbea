import { armCrashPoints, IN_FLIGHT } from '../core/crash-point.js'
import type { CrashHandler } from '../core/crash-point.js'
import { readCrashAt } from './crash-config.js'
import type { CrashAt } from './crash-config.js'

/** Bytes leave within the next turns of the event loop; an answer takes a disk write or a block longer. */
const UNDER_WAY_MS = 2

/** Arms the crash that CRASH_AT names, if any: SIGKILL, as sudden as it is from outside. */
export function armCrashAt(): void {
  const at = readCrashAt()
  if (at !== undefined) armCrashPoints(killAt(at, () => process.kill(process.pid, 'SIGKILL')))
}

/** Calls `kill` at the asked-for passing of the point; for what is in flight, once it has left. */
export function killAt({ point, passing }: CrashAt, kill: () => void): CrashHandler {
  let passed = 0
  return (reached) => {
    if (reached !== point) return
    passed += 1
    if (passed !== passing) return
    if (IN_FLIGHT.has(point)) setTimeout(kill, UNDER_WAY_MS)
    else kill()
  }
}
