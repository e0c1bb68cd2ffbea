import { InvariantBroken } from '../../core/assert.js'
import type { Channel } from './change-ring.js'
import type { Connection } from './connection.js'
import type { MarketFeed } from './market-feed.js'
import type { Replayer, ReplayOutcome } from './replay.js'
import { ackFrame, errorFrame, snapshotFrame } from './server-frames.js'

/** One channel of one market. */
export interface Following {
  readonly feed: MarketFeed
  readonly channel: Channel
}

/** What one client follows: at most one subscription per channel and market. */
export interface Followings {
  /** Starts with a snapshot, or with what followed `sinceSeq`; a repeated request changes nothing. */
  follow(following: Following, sinceSeq: number | undefined, reqId: string | undefined): void
  /** Nothing of the channel is delivered after this. */
  leave(following: Following): void
  /** Leaves everything. */
  end(): void
}

export function createFollowings(connection: Connection, replayer: Replayer): Followings {
  const current = new Map<string, Following>()
  const isWanted = (one: Following): boolean =>
    connection.isOpen() && current.get(keyOf(one)) === one

  function follow(one: Following, sinceSeq: number | undefined, reqId: string | undefined): void {
    if (current.has(keyOf(one))) return acknowledge('subscribed', one, reqId)
    current.set(keyOf(one), one)
    if (sinceSeq === undefined) startWithSnapshot(one, reqId)
    else void resume(one, sinceSeq, reqId)
  }

  /** Snapshot and registration are one step, so that no change can fall between them. */
  function startWithSnapshot({ feed, channel }: Following, reqId: string | undefined): void {
    const { seq, data } = feed.snapshot(channel)
    const head = { channel, market: feed.market.market, seq }
    void connection.writeBulk(snapshotFrame(head, data, reqId))
    feed.listen(channel, connection)
  }

  async function resume(one: Following, sinceSeq: number, reqId: string | undefined) {
    try {
      const outcome = await replay(one, sinceSeq, reqId)
      if (outcome !== 'too_old' || !isWanted(one)) return
      connection.send(errorFrame('resume_too_old', contextOf(one, reqId)))
      startWithSnapshot(one, reqId)
    } catch (error) {
      if (error instanceof InvariantBroken) throw error
      // The stream cannot be read now; what the client has stays valid and it can come back for the rest.
      if (isWanted(one)) current.delete(keyOf(one))
      connection.send(errorFrame('stream_reset', contextOf(one, reqId)))
    }
  }

  async function replay(
    one: Following,
    sinceSeq: number,
    reqId: string | undefined,
  ): Promise<ReplayOutcome> {
    const { feed, channel } = one
    if (sinceSeq > feed.headSeq()) return 'too_old'
    return replayer.replay({
      feed,
      channel,
      sinceSeq,
      target: {
        isWanted: () => isWanted(one),
        write: (frames) => connection.writeBulk(frames),
      },
      goLive() {
        acknowledge('resumed', one, reqId)
        feed.listen(channel, connection)
      },
    })
  }

  /** Only a client that named its request waits for this answer. */
  function acknowledge(message: string, one: Following, reqId: string | undefined): void {
    if (reqId === undefined) return
    connection.send(ackFrame(message, { ...contextOf(one, reqId), seq: one.feed.headSeq() }))
  }

  function leave(one: Following): void {
    current.delete(keyOf(one))
    one.feed.unlisten(one.channel, connection)
  }

  return { follow, leave, end: () => current.forEach(leave) }
}

function keyOf({ feed, channel }: Following): string {
  return `${channel} ${feed.market.market}`
}

function contextOf({ feed, channel }: Following, reqId: string | undefined) {
  return { channel, market: feed.market.market, reqId }
}
