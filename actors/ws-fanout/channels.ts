import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { Channel } from '../../interface/socket.js'
import type { BalancesChannel } from './balances-channel.js'
import type { ClientFrame } from './client-frames.js'
import { feedTopic } from './feed-topics.js'
import type { MarketFeed } from './market-feed.js'
import type { TopicStream } from './topic-stream.js'

/** What a client asks of a channel; its options stand in the frame. */
export interface Asked {
  readonly frame: Extract<ClientFrame, { op: 'subscribe' | 'unsubscribe' }>
  /** The authenticated address of the connection; always there for a private channel. */
  readonly owner: Address | undefined
}

/** The channels of no market. */
export interface VenueChannels {
  readonly balances: BalancesChannel
}

/** What a client may subscribe to: topics of markets, or one topic of an owner that is of no market. */
export type ChannelRecord = MarketChannel | VenueChannel

export interface MarketChannel {
  /** Shows what concerns the authenticated address alone. */
  readonly isPrivate: boolean
  /** Whether a frame without a market asks for every listed market. */
  readonly mayNameAll: boolean
  readonly open: (feed: MarketFeed, asked: Asked) => TopicStream
}

export interface VenueChannel {
  readonly isPrivate: true
  readonly openOfVenue: (venue: VenueChannels, owner: Address) => TopicStream
}

/** Every channel; one line each. */
export const channels: Readonly<Record<Channel, ChannelRecord>> = {
  book: ofEveryone((feed) => feedTopic(feed, { channel: 'book' })),
  trades: ofEveryone((feed) => feedTopic(feed, { channel: 'trades' })),
  orders: ofOwner((feed, owner) => feedTopic(feed, { channel: 'orders', owner })),
  fills: ofOwner((feed, owner) => feed.channels.fills.topic(owner)),
  balances: { isPrivate: true, openOfVenue: ({ balances }, owner) => balances.topic(owner) },
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
    ...{ isPrivate: true, mayNameAll: true },
    open(feed, { owner }) {
      assert(owner !== undefined, 'a private channel of a connection that is not authenticated')
      return open(feed, owner)
    },
  }
}
