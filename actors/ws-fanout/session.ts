import type { Address } from '../../core/action.js'
import type { Authenticate } from './authenticate.js'
import { parseClientFrame, type ClientFrame } from './client-frames.js'
import type { Connection } from './connection.js'
import { createFollowings } from './followings.js'
import type { MarketFeed } from './market-feed.js'
import type { Replayer } from './replay.js'
import { ackFrame, errorFrame, pongFrame } from './server-frames.js'

/** One client's conversation. */
export interface Session {
  /** Answers one text frame; frames are answered in the order in which they came. */
  onText(text: string): void
  /** The connection is over: nothing is delivered any more. */
  end(): void
}

export interface SessionParts {
  readonly connection: Connection
  /** The feed of a market by any of its names: symbol, alias, or `asset:sub_id`. */
  readonly findFeed: (identifier: string) => MarketFeed | undefined
  readonly replayer: Replayer
  readonly authenticate: Authenticate
}

type Auth = Extract<ClientFrame, { op: 'auth' }>
type Subscribe = Extract<ClientFrame, { op: 'subscribe' }>
type Unsubscribe = Extract<ClientFrame, { op: 'unsubscribe' }>

export function createSession(parts: SessionParts): Session {
  const { connection, findFeed, replayer, authenticate } = parts
  const followings = createFollowings(connection, replayer)
  const feedOf = (market: string | undefined): MarketFeed | undefined =>
    market === undefined ? undefined : findFeed(market.trim())
  /** The address this connection speaks for, until it closes. */
  let owner: Address | undefined
  let isAuthenticating = false
  /** What had arrived when an auth frame began to be judged: the connection is paused, so it is little. */
  const waiting: string[] = []

  function onText(text: string): void {
    if (!connection.isOpen()) return
    if (isAuthenticating) {
      waiting.push(text)
      return
    }
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
        return void auth(frame)
      case 'subscribe':
        return subscribe(frame)
      case 'unsubscribe':
        return unsubscribe(frame)
    }
  }

  async function auth({ fields, reqId }: Auth): Promise<void> {
    isAuthenticating = true
    connection.pause()
    const judged = await authenticate(fields, owner)
    isAuthenticating = false
    if ('owner' in judged) owner = judged.owner
    connection.send(
      'owner' in judged
        ? ackFrame('authenticated', { reqId })
        : errorFrame('auth_failed', { reqId, message: judged.reason }),
    )
    connection.resume()
    for (const text of waiting.splice(0)) onText(text)
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
