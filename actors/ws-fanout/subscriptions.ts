import type { Address } from '../../core/action.js'
import type { ClientFrame } from './client-frames.js'
import type { Connection } from './connection.js'
import type { SessionLimits } from './limits.js'
import type { MarketFeed } from './market-feed.js'
import type { Replayer } from './replay.js'
import { ackFrame, errorFrame, type Topic } from './server-frames.js'
import {
  createTopicStarter,
  keyOf,
  type MarketTopic,
  type TopicRequest,
  type TopicRun,
} from './topic-start.js'

export interface SubscriptionsParts {
  readonly connection: Connection
  /** The feed of a market by any of its names: symbol, alias, or `asset:sub_id`. */
  readonly findFeed: (identifier: string) => MarketFeed | undefined
  /** The feeds of all listed markets, for a subscription without a market. */
  readonly listedFeeds: () => readonly MarketFeed[]
  readonly replayer: Replayer
  readonly limits: SessionLimits
}

type Subscribe = Extract<ClientFrame, { op: 'subscribe' }>
type Unsubscribe = Extract<ClientFrame, { op: 'unsubscribe' }>

/** One client's subscriptions; `owner` is the authenticated address of its connection. */
export interface Subscriptions {
  subscribe(frame: Subscribe, owner: Address | undefined): void
  unsubscribe(frame: Unsubscribe, owner: Address | undefined): void
  end(): void
}

/** The markets of a frame: one feed, or all listed ones. */
interface Scope {
  /** Key of the subscription: `orders` of one market and of all markets are two subscriptions. */
  readonly subscription: string
  readonly market: string | undefined
  readonly feeds: readonly MarketFeed[]
}

export function createSubscriptions(parts: SubscriptionsParts): Subscriptions {
  const { connection, replayer, limits } = parts
  const topics = createTopicSubscriptions(connection, replayer)
  const subscribed = new Set<string>()

  function subscribe(frame: Subscribe, owner: Address | undefined): void {
    const { channel, reqId } = frame
    const topic = topicOf(channel, owner)
    if (topic === undefined) return connection.send(errorFrame('auth_required', { reqId }))
    const scope = scopeOf(parts, frame)
    const positions = scope && positionsOf(parts, frame)
    if (scope === undefined || positions === undefined) {
      return connection.send(errorFrame('unknown_market', { reqId }))
    }
    subscribed.add(scope.subscription)
    if (subscribed.size > limits.maxSubscriptions) {
      return connection.close(1008, 'too many subscriptions')
    }
    start(frame, { scope, topic, positions })
  }

  function start(
    { channel, sinceSeq, reqId }: Subscribe,
    { scope, topic, positions }: Start,
  ): void {
    const { subscription, market, feeds } = scope
    const isAmbiguous = market === undefined && sinceSeq !== undefined
    // A single sequence cannot resume several markets.
    if (isAmbiguous) connection.send(errorFrame('resume_too_old', { channel, reqId }))
    const started = feeds.map((feed) => {
      const position = positions.get(feed) ?? (isAmbiguous ? undefined : sinceSeq)
      return topics.add({ feed, topic }, { subscription, sinceSeq: position, reqId })
    })
    if (reqId === undefined || started.includes(true)) return
    const seq = market === undefined ? undefined : feeds[0]?.headSeq()
    connection.send(ackFrame('subscribed', { channel, market, seq, reqId }))
  }

  function unsubscribe(frame: Unsubscribe, owner: Address | undefined): void {
    const { channel, reqId } = frame
    const scope = scopeOf(parts, frame)
    if (scope === undefined) return connection.send(errorFrame('unknown_market', { reqId }))
    const { subscription, market, feeds } = scope
    const topic = topicOf(channel, owner)
    subscribed.delete(subscription)
    if (topic !== undefined) {
      for (const feed of feeds) topics.remove({ feed, topic }, subscription)
    }
    connection.send(ackFrame('unsubscribed', { channel, market, reqId }))
  }

  return { subscribe, unsubscribe, end: () => topics.end() }
}

interface Start {
  readonly scope: Scope
  readonly topic: Topic
  readonly positions: ReadonlyMap<MarketFeed, number>
}

/** Undefined when the market is not listed, or absent where it is required. */
function scopeOf(
  { findFeed, listedFeeds }: SubscriptionsParts,
  { channel, market }: Subscribe | Unsubscribe,
): Scope | undefined {
  if (market === undefined) {
    if (channel !== 'orders') return undefined
    return { subscription: channel, market: undefined, feeds: listedFeeds() }
  }
  const feed = findFeed(market.trim())
  if (feed === undefined) return undefined
  const canonical = feed.market.market
  return { subscription: `${channel} ${canonical}`, market: canonical, feeds: [feed] }
}

/** The client's position in each market of `since`; undefined when one of them is not listed. */
function positionsOf(
  { findFeed }: SubscriptionsParts,
  { since }: Subscribe,
): Map<MarketFeed, number> | undefined {
  const positions = new Map<MarketFeed, number>()
  for (const [name, seq] of since ?? []) {
    const feed = findFeed(name.trim())
    if (feed === undefined) return undefined
    positions.set(feed, seq)
  }
  return positions
}

/** Undefined for `orders` without an authenticated owner. */
function topicOf(channel: Topic['channel'], owner: Address | undefined): Topic | undefined {
  if (channel !== 'orders') return { channel }
  return owner === undefined ? undefined : { channel, owner }
}

/** The market topics of one client; each is delivered once, also when several subscriptions include it. */
export interface TopicSubscriptions {
  /**
   * Starts with a snapshot, or with the frames after `sinceSeq`; false when the subscription already includes the topic. A
   * further subscription to a running topic gets a new snapshot, which the updates continue, unless it has a `sinceSeq`.
   */
  add(topic: MarketTopic, request: TopicRequest): boolean
  /** Removes the topic from the subscription; its frames end when no other subscription includes it. */
  remove(topic: MarketTopic, subscription: string): void
  /** Removes everything. */
  end(): void
}

export function createTopicSubscriptions(
  connection: Connection,
  replayer: Replayer,
): TopicSubscriptions {
  const current = new Map<string, TopicRun>()
  const isCurrent = (run: TopicRun): boolean =>
    connection.isOpen() && current.get(keyOf(run.target)) === run
  const drop = ({ target }: TopicRun): void => void current.delete(keyOf(target))
  const start = createTopicStarter({ connection, replayer, isCurrent, drop })

  function add(target: MarketTopic, request: TopicRequest): boolean {
    const running = current.get(keyOf(target))
    if (running?.subscriptions.has(request.subscription) === true) return false
    const subscriptions = new Set(running?.subscriptions).add(request.subscription)
    if (running !== undefined && request.sinceSeq !== undefined) {
      running.subscriptions.add(request.subscription)
      return false
    }
    const run: TopicRun = { target, subscriptions }
    current.set(keyOf(target), run)
    start(run, request)
    return true
  }

  function remove(target: MarketTopic, subscription: string): void {
    const running = current.get(keyOf(target))
    running?.subscriptions.delete(subscription)
    if (running?.subscriptions.size === 0) stop(running)
  }

  function stop({ target }: TopicRun): void {
    current.delete(keyOf(target))
    target.feed.unsubscribe(target.topic, connection)
  }

  return { add, remove, end: () => current.forEach(stop) }
}
