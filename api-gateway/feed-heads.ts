import { decodeBlock } from '../bus-schemas/block-message.js'
import { BusUnavailable, StreamMissing } from '../bus-schemas/bus.js'
import type { Bus } from '../bus-schemas/bus.js'
import { feedStream } from '../bus-schemas/subjects.js'

const CACHED_MS = 1_000

/** Sequence of the newest change in a market's feed, at most a second old; undefined while the bus is silent. */
export type FeedHeads = (market: string) => Promise<number | undefined>

/** Asks the bus at most once a second for each market; must be called with markets of the venue only. */
export function createFeedHeads(bus: Pick<Bus, 'isConnected' | 'lastMessage'>): FeedHeads {
  const asked = new Map<string, { readonly atMs: number; readonly head: ReturnType<FeedHeads> }>()
  return (market) => {
    const nowMs = performance.now()
    const kept = asked.get(market)
    if (kept !== undefined && nowMs - kept.atMs < CACHED_MS) return kept.head
    const head = readHead(bus, market)
    asked.set(market, { atMs: nowMs, head })
    return head
  }
}

async function readHead(
  bus: Pick<Bus, 'isConnected' | 'lastMessage'>,
  market: string,
): Promise<number | undefined> {
  if (!bus.isConnected()) return undefined
  try {
    const newest = await bus.lastMessage(feedStream(market))
    if (newest === undefined) return 0
    const { firstSeq, changes } = decodeBlock(newest.data)
    return firstSeq + changes.length - 1
  } catch (error) {
    // The market's matcher has not made its feed yet.
    if (error instanceof StreamMissing) return 0
    if (error instanceof BusUnavailable) return undefined
    throw error
  }
}
