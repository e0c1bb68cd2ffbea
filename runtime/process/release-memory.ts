import { Session } from 'node:inspector'
import { setTimeout as delay } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'

/** A process that has started runs so long until its start's memory is collected: other processes may start meanwhile. */
const START_IS_OVER_MS = 5_000
/** A larger heap holds the venue's data rather than what a start has left, and collecting it would stop the process for long. */
const HEAP_BYTES_MAX = 64 * 2 ** 20

/**
 * Collects what the start of this process has left behind and gives the memory back to the system, once, after a pause. V8 itself
 * waits until a heap has grown, which that of an idle process never does. Takes some 70 ms, during which the process does
 * nothing else. Of V8's collections, Node offers the one that gives memory back by the inspector only.
 */
export async function releaseStartMemory(afterMs = START_IS_OVER_MS): Promise<void> {
  await delay(afterMs, undefined, { ref: false })
  if (getHeapStatistics().used_heap_size > HEAP_BYTES_MAX) return
  const session = new Session()
  session.connect()
  await new Promise<void>((resolve) => {
    // A session that is closed within its own answer never returns.
    const close = (): void => {
      session.disconnect()
      resolve()
    }
    session.post('HeapProfiler.collectGarbage', () => setImmediate(close))
  })
}
