import { InvariantBroken } from '../../core/assert.js'
import type { Channel } from './change-ring.js'
import { parseClientFrame, type ClientFrame } from './client-frames.js'
import type { Connection } from './connection.js'
import type { MarketFeed } from './market-feed.js'
import type { Replayer } from './replay.js'
import { ackFrame, errorFrame, pongFrame, snapshotFrame } from './server-frames.js'

/** One client's conversation: what it asked to follow. */
export interface Session {
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

interface Following {
  readonly feed: MarketFeed
  readonly channel: Channel
}

type Subscribe = Extract<ClientFrame, { op: 'subscribe' }>
type Unsubscribe = Extract<ClientFrame, { op: 'unsubscribe' }>

export function createSession({ connection, findFeed, replayer }: SessionParts): Session {
  /** At most one per channel and market. */
  const followings = new Map<string, Following>()

  function onText(text: string): void {
    const parsed = parseClientFrame(text)
    if ('problem' in parsed) {
      const { code, ...context } = parsed.problem
      return connection.send(errorFrame(code, context))
    }
    answer(parsed.frame)
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
    const feed = market === undefined ? undefined : findFeed(market.trim())
    if (feed === undefined) return connection.send(errorFrame('unknown_market', { reqId }))
    const key = keyOf(channel, feed)
    if (followings.has(key)) return acknowledge('subscribed', { feed, channel }, reqId)
    const following = { feed, channel }
    followings.set(key, following)
    if (sinceSeq === undefined) startWithSnapshot(following, reqId)
    else void resume(following, sinceSeq, reqId)
  }

  /** Snapshot and registration are one step, so that no change can fall between them. */
  function startWithSnapshot({ feed, channel }: Following, reqId: string | undefined): void {
    const { seq, data } = feed.snapshot(channel)
    const head = { channel, market: feed.market.market, seq }
    void connection.writeBulk(snapshotFrame(head, data, reqId))
    feed.listen(channel, connection)
  }

  async function resume(
    following: Following,
    sinceSeq: number,
    reqId: string | undefined,
  ): Promise<void> {
    const { feed, channel } = following
    const isWanted = (): boolean =>
      connection.isOpen() && followings.get(keyOf(channel, feed)) === following
    try {
      const outcome =
        sinceSeq > feed.headSeq()
          ? 'too_old'
          : await replayer.replay({
              feed,
              channel,
              sinceSeq,
              target: { isWanted, write: (frames) => connection.writeBulk(frames) },
              goLive: () => {
                acknowledge('resumed', following, reqId)
                feed.listen(channel, connection)
              },
            })
      if (outcome !== 'too_old' || !isWanted()) return
      connection.send(errorFrame('resume_too_old', contextOf(following, reqId)))
      startWithSnapshot(following, reqId)
    } catch (error) {
      if (error instanceof InvariantBroken) throw error
      // The stream cannot be read now; what the client has stays valid and it can come back for the rest.
      if (isWanted()) followings.delete(keyOf(channel, feed))
      connection.send(errorFrame('stream_reset', contextOf(following, reqId)))
    }
  }

  function unsubscribe({ channel, market, reqId }: Unsubscribe): void {
    const feed = market === undefined ? undefined : findFeed(market.trim())
    if (channel === 'orders' && market === undefined)
      return connection.send(ackFrame('unsubscribed', { channel, reqId }))
    if (feed === undefined) return connection.send(errorFrame('unknown_market', { reqId }))
    if (channel !== 'orders') {
      followings.delete(keyOf(channel, feed))
      feed.unlisten(channel, connection)
    }
    const context = { channel, market: feed.market.market, reqId }
    connection.send(ackFrame('unsubscribed', context))
  }

  /** Only a client that named its request waits for this answer. */
  function acknowledge(message: string, following: Following, reqId: string | undefined): void {
    if (reqId === undefined) return
    const seq = following.feed.headSeq()
    connection.send(ackFrame(message, { ...contextOf(following, reqId), seq }))
  }

  function end(): void {
    for (const { feed, channel } of followings.values()) feed.unlisten(channel, connection)
    followings.clear()
  }

  return { onText, end }
}

function keyOf(channel: Channel, feed: MarketFeed): string {
  return `${channel} ${feed.market.market}`
}

function contextOf({ feed, channel }: Following, reqId: string | undefined) {
  return { channel, market: feed.market.market, reqId }
}
