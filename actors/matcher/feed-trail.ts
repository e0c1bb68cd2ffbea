import { decodeBlock } from '../../bus-schemas/block-message.js'
import type { Bus } from '../../bus-schemas/bus.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { createSettlementTrail, type SettlementTrail } from '../../core/settlement-trail.js'

const PAGE = 64

/** What a market's feed tells of some settlements, as far as it was read. */
export interface FeedTrail extends Pick<SettlementTrail, 'reversalOf'> {
  /** Reads on up to this message of the feed. */
  readUpTo(messageSeq: number): Promise<void>
}

/**
 * Opens the trail of settlements, of which the earliest was proposed by the change `fromSeq`, with everything that
 * follows it. Throws MessagesGone when the feed was trimmed behind that, and BusUnavailable.
 */
export async function openFeedTrail(
  bus: Pick<Bus, 'read' | 'streamState'>,
  market: string,
  {
    settlementIds,
    fromSeq,
  }: { readonly settlementIds: readonly string[]; readonly fromSeq: number },
): Promise<FeedTrail> {
  const stream = feedStream(market)
  const trail = createSettlementTrail(settlementIds)
  let next = await findMessage(bus, stream, fromSeq)
  return {
    reversalOf: trail.reversalOf,
    async readUpTo(messageSeq) {
      while (next <= messageSeq) {
        const messages = await bus.read(stream, next, Math.min(PAGE, messageSeq - next + 1))
        if (messages.length === 0) return
        for (const { data } of messages) decodeBlock(data).changes.forEach(trail.fold)
        next += messages.length
      }
    },
  }
}

/** The last message whose changes begin at this one or before, found by halving. */
async function findMessage(
  bus: Pick<Bus, 'read' | 'streamState'>,
  stream: string,
  changeSeq: number,
): Promise<number> {
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  let low = firstSeq
  let high = lastSeq
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [message] = await bus.read(stream, middle, 1)
    const begins = message === undefined ? Infinity : decodeBlock(message.data).firstSeq
    if (begins <= changeSeq) low = middle
    else high = middle - 1
  }
  return low
}
