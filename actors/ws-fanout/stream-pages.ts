import { decodeBlock } from '../../bus-schemas/block-message.js'
import { MessagesGone, type Bus, type BusMessage } from '../../bus-schemas/bus.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { topicFrame, tradeSeqAfter } from './change-frames.js'
import type { Page } from './change-ring.js'
import type { Gate } from './gate.js'
import { STREAM_PAGE_BLOCKS } from './limits.js'
import type { MarketFeed } from './market-feed.js'
import type { Topic } from './topic.js'

export interface StreamPages {
  readonly bus: Bus
  readonly feed: MarketFeed
  readonly topic: Topic
  readonly afterSeq: number
  /** Limits how many read at a time. */
  readonly gate: Gate
}

/** Why there are no more pages: the head was reached, or the stream does not hold what should come next. */
export type PagesEnd = 'head' | 'gone'

/**
 * The topic's frames that followed `afterSeq`, read from the stream and made anew, up to the feed's head: the stream
 * may be ahead of the fold, and what it holds beyond is still to be delivered live. Throws BusUnavailable.
 */
export async function* readStreamPages(pages: StreamPages): AsyncGenerator<Page, PagesEnd> {
  const { feed, topic, afterSeq } = pages
  const mark = feed.markBefore(afterSeq)
  if (mark === undefined) return 'gone'
  let { streamSeq, seq, lastTradeSeq } = mark
  for (;;) {
    const messages = await readRetained(pages, streamSeq)
    if (messages.length === 0) return 'gone'
    streamSeq += messages.length
    const frames: Buffer[] = []
    const head = feed.headSeq()
    for (const change of messages.flatMap(({ data }) => decodeBlock(data).changes)) {
      if (change.seq > head) break
      const tradeSeq = lastTradeSeq
      seq = change.seq
      lastTradeSeq = tradeSeqAfter(change, tradeSeq)
      if (seq <= afterSeq) continue
      const previous = { tradeSeq, ownerSeq: feed.ownersPreviousSeq(seq) }
      const frame = topicFrame(feed.market, change, { topic, previous })
      if (frame === 'unlinked') return 'gone'
      if (frame !== undefined) frames.push(frame)
    }
    yield { frames, upTo: Math.max(seq, afterSeq) }
    if (seq === head) return 'head'
  }
}

/** The next messages; none when they have been trimmed away. */
async function readRetained(
  { bus, feed, gate }: StreamPages,
  fromSeq: number,
): Promise<BusMessage[]> {
  const stream = feedStream(feed.market.market)
  try {
    return await gate(() => bus.read(stream, fromSeq, STREAM_PAGE_BLOCKS))
  } catch (error) {
    if (error instanceof MessagesGone) return []
    throw error
  }
}
