import type { FeedHeads } from './health.js'
import { createRestedRuns } from './rested-runs.js'

/** Whether the feed of a market has come as far as a change; undefined where that cannot be read. */
export type IsReached = (market: string, seq: number) => Promise<boolean | undefined>

/**
 * Reads the head of a market's feed when a change is asked for that is ahead of what was read; who asks meanwhile shares the next
 * read, and reads of a market rest between them (rested-runs.ts). Keeps one number for each market; must be called with markets
 * of the venue only.
 */
export function createKnownHeads(readHead: FeedHeads): IsReached {
  const known = new Map<string, number>()
  const runs = createRestedRuns<'read' | 'unread'>()

  async function read(market: string): Promise<'read' | 'unread'> {
    const head = await readHead(market)
    if (head === undefined) return 'unread'
    known.set(market, Math.max(head, known.get(market) ?? 0))
    return 'read'
  }

  return async (market, seq) => {
    const isKnown = (): boolean => (known.get(market) ?? 0) >= seq
    if (isKnown()) return true
    const outcome = await runs.after(
      market,
      () => (isKnown() ? 'read' : undefined),
      () => read(market),
    )
    return isKnown() || (outcome === 'read' ? false : undefined)
  }
}
