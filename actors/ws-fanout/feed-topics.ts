import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { MessagesGone, type BusMessage } from '../../runtime/bus/bus.js'
import { STREAM_PAGE_BLOCKS } from './limits.js'
import type { MarketFeed } from './market-feed.js'
import { topicFrame, tradeSeqAfter, type Topic } from './server-frames.js'
import type { Page, PagesEnd, PageSource, TopicStream } from './topic-stream.js'

/** A topic whose frames are numbered by the changes of its market: `book`, `trades`, `orders`. */
export const feedTopic = (feed: MarketFeed, topic: Topic): TopicStream => ({
  key: `${topic.channel} ${feed.market.market}`,
  channel: topic.channel,
  market: feed.market.market,
  headSeq: () => feed.headSeq(),
  snapshot: (minSeq) => feed.snapshots.atOnce(topic) ?? feed.snapshots.largeBook(minSeq),
  recentAfter: (afterSeq) => feed.recentAfter(topic, afterSeq),
  olderPages: (afterSeq, source) => readStreamPages(source, { feed, topic, afterSeq }),
  subscribe: (subscriber) => feed.subscribe(topic, subscriber),
  unsubscribe: (subscriber) => feed.unsubscribe(topic, subscriber),
})

interface StreamPages {
  readonly feed: MarketFeed
  readonly topic: Topic
  readonly afterSeq: number
}

/**
 * The topic's frames after `afterSeq`, read from the stream, up to the feed's head. The stream may be ahead of the fold;
 * what it holds beyond the head is delivered live later. Throws BusUnavailable.
 */
async function* readStreamPages(
  source: PageSource,
  { feed, topic, afterSeq }: StreamPages,
): AsyncGenerator<Page, PagesEnd> {
  const mark = feed.markBefore(afterSeq)
  if (mark === undefined) return 'gone'
  let { streamSeq, seq, lastTradeSeq } = mark
  for (;;) {
    const messages = await readRetained(source, feed, streamSeq)
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

/** The next messages; none when they were trimmed. */
async function readRetained(
  { bus, gate }: PageSource,
  feed: MarketFeed,
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
