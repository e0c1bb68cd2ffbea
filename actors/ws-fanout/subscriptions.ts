import type { Address } from '../../core/action.js'
import type { ClientFrame } from './client-frames.js'
import type { Connection } from './connection.js'
import { createFollowings, type Following } from './followings.js'
import type { SessionLimits } from './limits.js'
import type { MarketFeed } from './market-feed.js'
import type { Replayer } from './replay.js'
import { ackFrame, errorFrame } from './server-frames.js'
import type { Topic } from './topic.js'

export interface SubscriptionsParts {
  readonly connection: Connection
  /** The feed of a market by any of its names: symbol, alias, or `asset:sub_id`. */
  readonly findFeed: (identifier: string) => MarketFeed | undefined
  /** The feeds of all listed markets: what an unscoped subscription follows. */
  readonly listedFeeds: readonly MarketFeed[]
  readonly replayer: Replayer
  readonly limits: SessionLimits
}

type Subscribe = Extract<ClientFrame, { op: 'subscribe' }>
type Unsubscribe = Extract<ClientFrame, { op: 'unsubscribe' }>

/** One client's subscriptions; `owner` is the address that its connection speaks for. */
export interface Subscriptions {
  subscribe(frame: Subscribe, owner: Address | undefined): void
  unsubscribe(frame: Unsubscribe, owner: Address | undefined): void
  end(): void
}

/** What a frame is about: one feed, or all listed ones. */
interface Scope {
  /** Names the subscription: scoped and unscoped ones to `orders` live side by side. */
  readonly subscription: string
  readonly market: string | undefined
  readonly feeds: readonly MarketFeed[]
}

export function createSubscriptions(parts: SubscriptionsParts): Subscriptions {
  const { connection, replayer, limits } = parts
  const followings = createFollowings(connection, replayer)
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
    const isUnaddressed = market === undefined && sinceSeq !== undefined
    // One number cannot say where each of several markets was left.
    if (isUnaddressed) connection.send(errorFrame('resume_too_old', { channel, reqId }))
    const started = feeds.map((feed) => {
      const position = positions.get(feed) ?? (isUnaddressed ? undefined : sinceSeq)
      return followings.follow({ feed, topic }, { subscription, sinceSeq: position, reqId })
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
      for (const feed of feeds) followings.leave({ feed, topic }, subscription)
    }
    connection.send(ackFrame('unsubscribed', { channel, market, reqId }))
  }

  return { subscribe, unsubscribe, end: () => followings.end() }
}

interface Start {
  readonly scope: Scope
  readonly topic: Following['topic']
  readonly positions: ReadonlyMap<MarketFeed, number>
}

/** Undefined when the market is not listed, or missing where it is needed. */
function scopeOf(
  { findFeed, listedFeeds }: SubscriptionsParts,
  { channel, market }: Subscribe | Unsubscribe,
): Scope | undefined {
  if (market === undefined) {
    if (channel !== 'orders') return undefined
    return { subscription: channel, market: undefined, feeds: listedFeeds }
  }
  const feed = findFeed(market.trim())
  if (feed === undefined) return undefined
  const canonical = feed.market.market
  return { subscription: `${channel} ${canonical}`, market: canonical, feeds: [feed] }
}

/** Where the client was in each market that it named under `since`; undefined when one of these is not listed. */
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

/** Undefined when orders are asked for and nobody says whose. */
function topicOf(channel: Topic['channel'], owner: Address | undefined): Topic | undefined {
  if (channel !== 'orders') return { channel }
  return owner === undefined ? undefined : { channel, owner }
}
