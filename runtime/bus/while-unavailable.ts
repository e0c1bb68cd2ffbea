import { setTimeout as delay } from 'node:timers/promises'
import { BusUnavailable } from './bus.js'

/** A server that has just started needs time to load its streams, and a cluster that lost one to elect their leaders. */
const REPEAT_FOR_MS = 30_000
const REPEAT_EVERY_MS = 200

/** Repeats an idempotent request while the server is not available, at most for REPEAT_FOR_MS. */
export async function whileUnavailable<T>(request: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + REPEAT_FOR_MS
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof BusUnavailable) || performance.now() > deadline) throw error
    }
    await delay(REPEAT_EVERY_MS)
  }
}
