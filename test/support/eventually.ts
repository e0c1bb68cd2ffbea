import { setTimeout as delay } from 'node:timers/promises'

const LOOK_EVERY_MS = 5

/**
 * Resolves once the condition neither throws nor gives false; when it does not come to that within `withinMs`, throws
 * what it threw last.
 */
export async function eventually(condition: () => unknown, withinMs = 40_000): Promise<void> {
  const giveUpAt = Date.now() + withinMs
  for (;;) {
    let failure: unknown
    try {
      if ((await condition()) !== false) return
      failure = new Error(`did not happen within ${withinMs} ms: ${condition.toString()}`)
    } catch (error) {
      failure = error
    }
    if (Date.now() > giveUpAt) throw failure
    await delay(LOOK_EVERY_MS)
  }
}
