import { setTimeout as delay } from 'node:timers/promises'
import type { FeedHeads } from './health.js'

/** Whether the feed of a market has come as far as a change; undefined where that cannot be read. */
export type IsReached = (market: string, seq: number) => Promise<boolean | undefined>

/** So many times as long as a read of a head took passes until the next one of its market, at most LONGEST_REST_MS. */
const REST = 4
const LONGEST_REST_MS = 400

/**
 * Reads the head of a market's feed when a change is asked for that is ahead of what was read; who asks meanwhile shares the next
 * read. However many ask, a head that is read in up to 100 ms takes at most a fifth of a processor. Keeps one number for each market; must be
 * called with markets of the venue only.
 */
export function createKnownHeads(readHead: FeedHeads): IsReached {
  const known = new Map<string, number>()
  /** Each resolves with whether the head was read. */
  const running = new Map<string, Promise<boolean>>()
  const restsUntilMs = new Map<string, number>()

  async function read(market: string): Promise<boolean> {
    const leftMs = (restsUntilMs.get(market) ?? 0) - performance.now()
    if (leftMs > 0) await delay(leftMs)
    const startedAtMs = performance.now()
    try {
      const head = await readHead(market)
      if (head === undefined) return false
      known.set(market, Math.max(head, known.get(market) ?? 0))
      return true
    } finally {
      const endedAtMs = performance.now()
      const restMs = Math.min(REST * (endedAtMs - startedAtMs), LONGEST_REST_MS)
      restsUntilMs.set(market, endedAtMs + restMs)
      running.delete(market)
    }
  }

  return async (market, seq) => {
    const isKnown = (): boolean => (known.get(market) ?? 0) >= seq
    if (isKnown()) return true
    // One that runs already may have begun before this change was made; the next one has not.
    await running.get(market)?.catch(() => undefined)
    if (isKnown()) return true
    const reading = running.get(market) ?? read(market)
    running.set(market, reading)
    const isRead = await reading
    return isKnown() || (isRead ? false : undefined)
  }
}
