import { once } from 'node:events'
import { BusUnavailable } from './bus.js'

/** What a restore says to the program that runs it beside a bus of its own, and hears from it. */
export const SYNC_BUS = 'sync-bus'
export const BUS_SYNCED = 'bus-synced'

/**
 * Has the bus stopped, its store synced, and the bus started again with a sync for each write, by the program that started
 * this one beside it. Undefined where there is none: the bus is another's. Throws BusUnavailable when that fails.
 */
export function busSyncer(): (() => Promise<void>) | undefined {
  const send = process.send?.bind(process)
  if (send === undefined) return undefined
  return async () => {
    const ended = new AbortController()
    const answered = once(process, 'message', { signal: ended.signal })
    const lost = once(process, 'disconnect', { signal: ended.signal }).then(() => {
      throw new BusUnavailable('the bus was not started again after its store was synced')
    })
    try {
      send(SYNC_BUS)
      await Promise.race([answered, lost])
    } finally {
      ended.abort()
      // Whichever was not first ends by the signal.
      await Promise.allSettled([answered, lost])
    }
  }
}
