import { setTimeout as delay } from 'node:timers/promises'
import { LauncherError } from './launcher-error.js'

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 100

/**
 * Asks again and again, with growing pauses up to 100 ms, until the question gives a value; resolves with it. A throw
 * counts as "not yet". Throws LauncherError naming `what` after `withinMs`, with the last throw as its cause.
 */
export async function waitFor<T>(
  what: string,
  withinMs: number,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + withinMs
  let pauseMs = FIRST_PAUSE_MS
  let lastError: unknown
  for (;;) {
    try {
      const answer = await ask()
      if (answer !== undefined) return answer
    } catch (error) {
      lastError = error
    }
    if (performance.now() >= deadline)
      throw new LauncherError(`waited ${withinMs} ms for ${what}`, { cause: lastError })
    await delay(pauseMs)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
}
