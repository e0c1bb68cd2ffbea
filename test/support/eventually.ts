import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

const LOOK_EVERY_MS = 5
/** Bounds every time limit; set by the mutation tests, where most conditions that take long never come about. */
const LONGEST_MS = Number(process.env.EVENTUALLY_LONGEST_MS ?? Infinity)
/** A limit grows at most so much, so that what hangs ends before the limit of its test (`.mocharc.json`). */
const SLOWEST = 15

/** A condition did not come about within its time limit; the cause is what it threw last. */
export class NotInTime extends Error {
  override readonly name = 'NotInTime'

  constructor(withinMs: number, cause: unknown) {
    super(`not within ${withinMs} ms: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

/** Whether the error says that a time limit was exceeded, of a test or of a condition. */
export const isLate = (error: unknown): boolean =>
  error instanceof NotInTime ||
  (error instanceof Error && 'code' in error && error.code === 'ERR_MOCHA_TIMEOUT')

/**
 * How many times as long as on an idle machine a process takes now: what wants to run, or waits for memory, for each processor
 * (the load average of the last minute); at least 1. Where no load is measured it is 1.
 */
export const machineSlowness = (): number => (loadavg()[0] ?? 0) / availableParallelism()

/** A time of an idle machine as it passes on this one now: a bound on what the venue itself must take at most. */
export const onThisMachine = (ms: number): number =>
  ms * Math.min(Math.max(machineSlowness(), 1), SLOWEST)

/**
 * Resolves once the condition neither throws nor gives false. Throws NotInTime when that takes longer than `withinMs` of an
 * idle machine: on a busy one time passes as much slower as the machine is, up to fifteen times.
 */
export async function eventually(
  condition: () => unknown,
  withinMs = 40_000,
  slowness = machineSlowness,
): Promise<void> {
  const limitMs = Math.min(withinMs, LONGEST_MS)
  let spentMs = 0
  let lookedAt = performance.now()
  for (;;) {
    let failure: unknown
    try {
      if ((await condition()) !== false) return
      failure = new Error(`did not happen: ${condition.toString()}`)
    } catch (error) {
      failure = error
    }
    const now = performance.now()
    spentMs += (now - lookedAt) / Math.min(Math.max(slowness(), 1), SLOWEST)
    lookedAt = now
    if (spentMs > limitMs) throw new NotInTime(limitMs, failure)
    await delay(LOOK_EVERY_MS)
  }
}
