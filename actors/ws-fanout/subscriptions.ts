import type { Address } from '../../core/action.js'
import { channels, type ChannelRequest, type VenueChannels } from './channels.js'
import type { ClientFrame } from './client-frames.js'
import type { ClientConnection } from './connection.js'
import type { SessionLimits } from './limits.js'
import type { MarketFeed } from './market-feed.js'
import type { Replayer } from './replay.js'
import { ackFrame, errorFrame } from './server-frames.js'
import { createTopicStarter, type TopicRequest, type TopicRun } from './topic-start.js'
import type { TopicStream } from './topic-stream.js'

export interface SubscriptionsParts {
  readonly connection: ClientConnection
  /** The feed of a market by any of its names: symbol, alias, or `asset:sub_id`. */
  readonly findFeed: (identifier: string) => MarketFeed | undefined
  /** The feeds of all listed markets, for a subscription without a market. */
  readonly listedFeeds: () => readonly MarketFeed[]
  /** The channels of no market. */
  readonly venue: VenueChannels
  readonly replayer: Replayer
  readonly limits: SessionLimits
}

type Subscribe = Extract<ClientFrame, { op: 'subscribe' }>
type Unsubscribe = Extract<ClientFrame, { op: 'unsubscribe' }>

/** One client's subscriptions; `owner` is the authenticated address of its connection. */
export interface Subscriptions {
  subscribe(frame: Subscribe, owner: Address | undefined): void
  unsubscribe(frame: Unsubscribe, owner: Address | undefined): void
  /** Adds a market that is listed from now on to every subscription without a market. */
  onListed(feed: MarketFeed): void
  end(): void
}

/** The topics of a frame: of one market, or of all listed ones. */
interface Scope {
  /** Key of the subscription: `orders` of one market and of all markets are two subscriptions. */
  readonly subscription: string
  readonly market: string | undefined
  /** None for a private channel of a connection that is not authenticated. */
  readonly streams: readonly TopicStream[]
  /** Several streams, each with numbers of its own. */
  readonly isMany: boolean
}

export function createSubscriptions(parts: SubscriptionsParts): Subscriptions {
  const { connection, replayer, limits } = parts
  const topics = createTopicSubscriptions(connection, replayer)
  const subscribed = new Set<string>()
  /** Subscriptions to all markets, with what they ask of each. */
  const wide = new Map<string, ChannelRequest>()

  function subscribe(frame: Subscribe, owner: Address | undefined): void {
    const { channel, reqId } = frame
    if (channels[channel].isPrivate && owner === undefined) {
      const message = `authenticate before subscribing to ${channel}`
      return connection.send(errorFrame('auth_required', { reqId, message }))
    }
    const scope = scopeOf(parts, { frame, owner })
    const positions = scope && positionsOf(parts, frame)
    if (scope === undefined || positions === undefined) {
      return connection.send(errorFrame('unknown_market', { reqId }))
    }
    subscribed.add(scope.subscription)
    if (subscribed.size > limits.maxSubscriptions) {
      return connection.close(1008, 'too many subscriptions')
    }
    if (scope.isMany) wide.set(scope.subscription, { frame, owner })
    start(frame, scope, positions)
  }

  function start(
    { channel, sinceSeq, reqId }: Subscribe,
    { subscription, market, streams, isMany }: Scope,
    positions: ReadonlyMap<string, number>,
  ): void {
    const isAmbiguous = isMany && sinceSeq !== undefined
    // A single sequence cannot resume several markets.
    if (isAmbiguous) connection.send(errorFrame('resume_too_old', { channel, reqId }))
    const started = streams.map((stream) => {
      const position = positions.get(stream.market ?? '') ?? (isAmbiguous ? undefined : sinceSeq)
      return topics.add(stream, { subscription, sinceSeq: position, reqId })
    })
    if (reqId === undefined || started.includes(true)) return
    const seq = isMany ? undefined : streams[0]?.headSeq()
    connection.send(ackFrame('subscribed', { channel, market, seq, reqId }))
  }

  function unsubscribe(frame: Unsubscribe, owner: Address | undefined): void {
    const { channel, reqId } = frame
    const scope = scopeOf(parts, { frame, owner })
    if (scope === undefined) return connection.send(errorFrame('unknown_market', { reqId }))
    const { subscription, market } = scope
    subscribed.delete(subscription)
    wide.delete(subscription)
    topics.leave(subscription)
    connection.send(ackFrame('unsubscribed', { channel, market, reqId }))
  }

  function onListed(feed: MarketFeed): void {
    for (const [subscription, asked] of wide) {
      const record = channels[asked.frame.channel]
      if ('openOfVenue' in record) continue
      const request = { subscription, sinceSeq: undefined, reqId: undefined }
      topics.add(record.open(feed, asked), request)
    }
  }

  return { subscribe, unsubscribe, onListed, end: () => topics.end() }
}

/** Undefined when the market is not listed, or absent where it is required. */
function scopeOf(
  { findFeed, listedFeeds, venue }: Pick<SubscriptionsParts, 'findFeed' | 'listedFeeds' | 'venue'>,
  asked: ChannelRequest,
): Scope | undefined {
  const { frame, owner } = asked
  const { channel, market } = frame
  const record = channels[channel]
  if ('openOfVenue' in record) {
    const isShown = !record.isPrivate || owner !== undefined
    const streams = isShown ? [record.openOfVenue(venue, asked)] : []
    return { subscription: channel, market: undefined, streams, isMany: false }
  }
  const { isPrivate, mayNameAll, open } = record
  const streamsOf = (feeds: readonly MarketFeed[]): TopicStream[] =>
    isPrivate && owner === undefined ? [] : feeds.map((feed) => open(feed, asked))
  if (market === undefined) {
    if (!mayNameAll) return undefined
    return { subscription: channel, market, streams: streamsOf(listedFeeds()), isMany: true }
  }
  const feed = findFeed(market.trim())
  if (feed === undefined) return undefined
  const streams = streamsOf([feed])
  const canonical = feed.market.market
  return { subscription: streams[0]?.key ?? '', market: canonical, streams, isMany: false }
}

/** The client's position in each market of `since`; undefined when one of them is not listed. */
function positionsOf(
  { findFeed }: SubscriptionsParts,
  { since }: Subscribe,
): Map<string, number> | undefined {
  const positions = new Map<string, number>()
  for (const [name, seq] of since ?? []) {
    const feed = findFeed(name.trim())
    if (feed === undefined) return undefined
    positions.set(feed.market.market, seq)
  }
  return positions
}

/** The topics of one client; each is delivered once, also when several subscriptions include it. */
export interface TopicSubscriptions {
  /**
   * Starts with a snapshot, or with the frames after `sinceSeq`; false when the subscription already includes the topic. A
   * further subscription to a running topic gets a new snapshot, which the updates continue, unless it has a `sinceSeq`.
   */
  add(stream: TopicStream, request: TopicRequest): boolean
  /** Removes the subscription from its topics; the frames of one end when no other subscription includes it. */
  leave(subscription: string): void
  /** Removes everything. */
  end(): void
}

export function createTopicSubscriptions(
  connection: ClientConnection,
  replayer: Replayer,
): TopicSubscriptions {
  const current = new Map<string, TopicRun>()
  const isCurrent = (run: TopicRun): boolean =>
    connection.isOpen() && current.get(run.stream.key) === run
  const drop = ({ stream }: TopicRun): void => void current.delete(stream.key)
  const start = createTopicStarter({ connection, replayer, isCurrent, drop })

  function add(stream: TopicStream, request: TopicRequest): boolean {
    const running = current.get(stream.key)
    if (running?.subscriptions.has(request.subscription) === true) return false
    const subscriptions = new Set(running?.subscriptions).add(request.subscription)
    if (running !== undefined && request.sinceSeq !== undefined) {
      running.subscriptions.add(request.subscription)
      return false
    }
    const run: TopicRun = { stream, subscriptions }
    current.set(stream.key, run)
    start(run, request)
    return true
  }

  function leave(subscription: string): void {
    for (const running of [...current.values()]) {
      running.subscriptions.delete(subscription)
      if (running.subscriptions.size === 0) stop(running)
    }
  }

  function stop({ stream }: TopicRun): void {
    current.delete(stream.key)
    stream.unsubscribe(connection)
  }

  return { add, leave, end: () => current.forEach(stop) }
}
