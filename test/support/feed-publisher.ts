import { encodeBlock } from '../../bus-schemas/block-message.js'
import type { Bus } from '../../bus-schemas/bus.js'
import { feedStream, feedSubject } from '../../bus-schemas/subjects.js'
import type { Change } from '../../core/change.js'

/** Publishes changes as a market's matcher would, so many to a block, in the order given. */
export async function publishChanges(
  bus: Bus,
  market: string,
  changes: readonly Change[],
  perBlock = 3,
): Promise<void> {
  for (let at = 0; at < changes.length; at += perBlock) {
    const run = changes.slice(at, at + perBlock)
    const firstSeq = (run[0] as Change).seq
    const block = { market, commandSeq: firstSeq, commandIndex: 0, firstSeq, changes: run }
    await bus.append(feedSubject(market), encodeBlock(block))
  }
}

/** Declares a market's feed as its matcher does. */
export async function declareFeed(bus: Bus, market: string): Promise<void> {
  await bus.declareStream({
    stream: feedStream(market),
    subject: feedSubject(market),
    description: 'changes of a market',
  })
}
