import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { OrderStand } from '../../core/engine/feed.js'
import type { Change } from '../../core/model/change.js'
import type { Channel } from '../../interface/socket.js'
import { MessagesGone, type BusMessage } from '../../runtime/bus/bus.js'
import type { BalancesChannel } from './balances-channel.js'
import type { LiquidationsChannel } from './liquidations-channel.js'
import type { ClientFrame } from './client-frames.js'
import { STREAM_PAGE_BLOCKS } from './limits.js'
import type { MarketFeed } from './market-feed.js'
import { topicFrame, tradeSeqAfter, type Topic } from './server-frames.js'
import type { FramePage, PagesEnd, PageSource, TopicStream } from './topic-stream.js'

/** What a client asks of a channel; its options stand in the frame. */
export interface ChannelRequest {
  readonly frame: Extract<ClientFrame, { op: 'subscribe' | 'unsubscribe' }>
  /** The authenticated address of the connection; always there for a private channel. */
  readonly owner: Address | undefined
}

/** The channels of no market. */
export interface VenueChannels {
  readonly balances: BalancesChannel
  readonly liquidations: LiquidationsChannel
}

/** What a client may subscribe to: topics of markets, or one topic of no market. */
type ChannelRecord = MarketChannel | VenueChannel

interface MarketChannel {
  /** Shows what concerns the authenticated address alone. */
  readonly isPrivate: boolean
  /** Whether a frame without a market asks for every listed market. */
  readonly mayNameAll: boolean
  readonly open: (feed: MarketFeed, asked: ChannelRequest) => TopicStream
}

interface VenueChannel {
  readonly isPrivate: boolean
  readonly openOfVenue: (venue: VenueChannels, asked: ChannelRequest) => TopicStream
}

/** Every channel; one line each. */
export const channels: Readonly<Record<Channel, ChannelRecord>> = {
  book: ofEveryone((feed) => feedTopic(feed, { channel: 'book' })),
  trades: ofEveryone((feed) => feedTopic(feed, { channel: 'trades' })),
  orders: ofOwner((feed, owner) => feedTopic(feed, { channel: 'orders', owner })),
  fills: ofOwner((feed, owner) => feed.channels.fills.topic(owner)),
  balances: {
    isPrivate: true,
    openOfVenue: ({ balances }, asked) => balances.topic(ownerOf(asked)),
  },
  liquidations: { isPrivate: false, openOfVenue: ({ liquidations }) => liquidations.topic() },
  levels: ofEveryone(({ data }, { frame: { depth } }) => data.topic({ channel: 'levels', depth })),
  candles: ofEveryone(({ data }, { frame: { interval } }) =>
    data.topic({ channel: 'candles', interval }),
  ),
  ticker: ofEveryMarket(({ data }) => data.topic({ channel: 'ticker' })),
  status: ofEveryMarket(({ data }) => data.topic({ channel: 'status' })),
}

function ofEveryone(open: MarketChannel['open']): MarketChannel {
  return { isPrivate: false, mayNameAll: false, open }
}

function ofEveryMarket(open: MarketChannel['open']): MarketChannel {
  return { isPrivate: false, mayNameAll: true, open }
}

function ofOwner(open: (feed: MarketFeed, owner: Address) => TopicStream): MarketChannel {
  return {
    isPrivate: true,
    mayNameAll: true,
    open: (feed, asked) => open(feed, ownerOf(asked)),
  }
}

function ownerOf({ owner }: ChannelRequest): Address {
  assert(owner !== undefined, 'a private channel of a connection that is not authenticated')
  return owner
}

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
): AsyncGenerator<FramePage, PagesEnd> {
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
      const stand = standThen(change, feed.standOf(change.orderId))
      const frame = topicFrame(feed.market, change, { topic, previous, stand })
      if (frame === 'unlinked') return 'gone'
      if (frame !== undefined) frames.push(frame)
    }
    yield { frames, upTo: Math.max(seq, afterSeq) }
    if (seq === head) return 'head'
  }
}

/**
 * How a change of the past left its order, from what is known of the order now. Its account and what it inherited never change;
 * what its fills added up to then is not known.
 */
function standThen(change: Change, now: OrderStand | undefined): OrderStand | undefined {
  const known = change.kind === 'OrderPlaced' ? change.order : now
  if (known === undefined) return undefined
  const { subaccountId, initialFilled } = known
  const reason = 'cancelReason' in change ? change.cancelReason : undefined
  const cancelReason = reason ?? (change.status === 'cancelled' ? now?.cancelReason : undefined)
  return { subaccountId, initialFilled, cancelReason, wasMatched: true, sums: undefined }
}

/** The next messages; none when they were trimmed. */
async function readRetained(
  { bus, limiter }: PageSource,
  feed: MarketFeed,
  fromSeq: number,
): Promise<BusMessage[]> {
  const stream = feedStream(feed.market.market)
  try {
    return await limiter(() => bus.read(stream, fromSeq, STREAM_PAGE_BLOCKS))
  } catch (error) {
    if (error instanceof MessagesGone) return []
    throw error
  }
}
