import { setTimeout as delay } from 'node:timers/promises'

const LOOK_EVERY_MS = 5
/** Bounds every time limit; set by the mutation tests, where most conditions that take long never come about. */
const LONGEST_MS = Number(process.env.EVENTUALLY_LONGEST_MS ?? Infinity)

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

/** Resolves once the condition neither throws nor gives false. Throws NotInTime when that takes longer than `withinMs`. */
export async function eventually(condition: () => unknown, withinMs = 40_000): Promise<void> {
  const limitMs = Math.min(withinMs, LONGEST_MS)
  const giveUpAt = Date.now() + limitMs
  for (;;) {
    let failure: unknown
    try {
      if ((await condition()) !== false) return
      failure = new Error(`did not happen: ${condition.toString()}`)
    } catch (error) {
      failure = error
    }
    if (Date.now() > giveUpAt) throw new NotInTime(limitMs, failure)
    await delay(LOOK_EVERY_MS)
  }
}
