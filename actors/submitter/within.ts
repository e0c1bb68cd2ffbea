import { setTimeout as delay } from 'node:timers/promises'

/** The first of the two: what happens, or that the time is over. */
export async function within<T>(withinMs: number, happening: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  const late = delay(withinMs, undefined, { signal: timer.signal }).catch(() => undefined)
  try {
    return await Promise.race([happening, late])
  } finally {
    timer.abort()
  }
}
