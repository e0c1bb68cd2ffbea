import { setTimeout as delay } from 'node:timers/promises'

const LOOK_EVERY_MS = 5

/** Resolves once the condition holds; throws when it does not within `withinMs`. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  withinMs = 15_000,
): Promise<void> {
  const giveUpAt = Date.now() + withinMs
  while (!(await condition())) {
    if (Date.now() > giveUpAt)
      throw new Error(`did not happen within ${withinMs} ms: ${condition.toString()}`)
    await delay(LOOK_EVERY_MS)
  }
}
