import { parseClientFrame, type ClientFrame } from './client-frames.js'
import type { Connection } from './connection.js'
import { createFollowings } from './followings.js'
import type { MarketFeed } from './market-feed.js'
import type { Replayer } from './replay.js'
import { ackFrame, errorFrame, pongFrame } from './server-frames.js'

/** One client's conversation. */
export interface Session {
  /** Answers one text frame. */
  onText(text: string): void
  /** The connection is over: nothing is delivered any more. */
  end(): void
}

export interface SessionParts {
  readonly connection: Connection
  /** The feed of a market by any of its names: symbol, alias, or `asset:sub_id`. */
  readonly findFeed: (identifier: string) => MarketFeed | undefined
  readonly replayer: Replayer
}

type Subscribe = Extract<ClientFrame, { op: 'subscribe' }>
type Unsubscribe = Extract<ClientFrame, { op: 'unsubscribe' }>

export function createSession({ connection, findFeed, replayer }: SessionParts): Session {
  const followings = createFollowings(connection, replayer)
  const feedOf = (market: string | undefined): MarketFeed | undefined =>
    market === undefined ? undefined : findFeed(market.trim())

  function onText(text: string): void {
    const parsed = parseClientFrame(text)
    if ('frame' in parsed) return answer(parsed.frame)
    const { code, ...context } = parsed.problem
    connection.send(errorFrame(code, context))
  }

  function answer(frame: ClientFrame): void {
    switch (frame.op) {
      case 'ping':
        return connection.send(pongFrame(frame.reqId))
      case 'auth':
        return connection.send(errorFrame('auth_failed', frame))
      case 'subscribe':
        return subscribe(frame)
      case 'unsubscribe':
        return unsubscribe(frame)
    }
  }

  function subscribe({ channel, market, sinceSeq, reqId }: Subscribe): void {
    if (channel === 'orders') return connection.send(errorFrame('auth_required', { reqId }))
    const feed = feedOf(market)
    if (feed === undefined) return connection.send(errorFrame('unknown_market', { reqId }))
    followings.follow({ feed, channel }, sinceSeq, reqId)
  }

  function unsubscribe({ channel, market, reqId }: Unsubscribe): void {
    const feed = feedOf(market)
    const isScoped = channel !== 'orders' || market !== undefined
    if (isScoped && feed === undefined) {
      return connection.send(errorFrame('unknown_market', { reqId }))
    }
    if (channel !== 'orders' && feed !== undefined) followings.leave({ feed, channel })
    const context = { channel, market: feed?.market.market, reqId }
    connection.send(ackFrame('unsubscribed', context))
  }

  return { onText, end: () => followings.end() }
}
