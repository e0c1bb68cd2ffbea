import { BusUnavailable, StreamMissing } from '../../bus-schemas/bus.js'
import type { Connection } from './connection.js'
import type { MarketFeed } from './market-feed.js'
import type { Replayer, ReplayOutcome, ReplayTarget } from './replay.js'
import { ackFrame, errorFrame, snapshotFrame } from './server-frames.js'
import { SnapshotFailed } from './snapshots.js'
import type { Topic } from './topic.js'

/** One topic of one market. */
export interface Following {
  readonly feed: MarketFeed
  readonly topic: Topic
}

export interface FollowRequest {
  /** Which subscription asks: a following lasts as long as one that asked for it. */
  readonly subscription: string
  readonly sinceSeq: number | undefined
  readonly reqId: string | undefined
}

/** What one client follows: each topic of a market at most once, for however many subscriptions. */
export interface Followings {
  /**
   * Starts with a snapshot, or with what followed `sinceSeq`; false when the same subscription has it already. A further
   * subscription to what is running gets a fresh snapshot, which the updates continue, unless it knows where it was.
   */
  follow(following: Following, request: FollowRequest): boolean
  /** The subscription ends; nothing of the topic is delivered after this unless another one has it. */
  leave(following: Following, subscription: string): void
  /** Leaves everything. */
  end(): void
}

interface Running {
  readonly following: Following
  readonly subscriptions: Set<string>
}

export function createFollowings(connection: Connection, replayer: Replayer): Followings {
  const current = new Map<string, Running>()
  /** Whether this run is still the one that its topic's frames come from. */
  const isWanted = (run: Running): boolean =>
    connection.isOpen() && current.get(keyOf(run.following)) === run

  function follow(one: Following, request: FollowRequest): boolean {
    const running = current.get(keyOf(one))
    if (running?.subscriptions.has(request.subscription) === true) return false
    const subscriptions = new Set(running?.subscriptions).add(request.subscription)
    if (running !== undefined && request.sinceSeq !== undefined) {
      running.subscriptions.add(request.subscription)
      return false
    }
    const run: Running = { following: one, subscriptions }
    current.set(keyOf(one), run)
    if (request.sinceSeq === undefined) startWithSnapshot(run, request.reqId)
    else void resume(run, request.sinceSeq, request.reqId)
    return true
  }

  function startWithSnapshot({ following: one }: Running, reqId: string | undefined): void {
    if (snapshotAndListen(connection, one, reqId)) return
    current.delete(keyOf(one))
    connection.send(errorFrame('snapshot_failed', contextOf(one, reqId)))
  }

  async function resume(run: Running, sinceSeq: number, reqId: string | undefined) {
    const { following: one } = run
    const outcome = await replayOf(one, sinceSeq, {
      replayer,
      isWanted: () => isWanted(run),
      write: (frames) => connection.writeBulk(frames),
      goLive() {
        // Only a client that named its request waits for this answer.
        if (reqId !== undefined) connection.send(resumedFrame(one, reqId))
        one.feed.listen(one.topic, connection)
      },
    })
    if (!isWanted(run)) return
    if (outcome === 'too_old') {
      connection.send(errorFrame('resume_too_old', contextOf(one, reqId)))
      startWithSnapshot(run, reqId)
    } else if (outcome === 'unreadable') {
      current.delete(keyOf(one))
      connection.send(errorFrame('stream_reset', contextOf(one, reqId)))
    }
  }

  function leave(one: Following, subscription: string): void {
    const running = current.get(keyOf(one))
    running?.subscriptions.delete(subscription)
    if (running?.subscriptions.size === 0) stop(running)
  }

  function stop({ following }: Running): void {
    current.delete(keyOf(following))
    following.feed.unlisten(following.topic, connection)
  }

  return { follow, leave, end: () => current.forEach(stop) }
}

/** One step, so that no change can fall between the two; false when there is no snapshot, and then nothing is sent. */
function snapshotAndListen(
  connection: Connection,
  { feed, topic }: Following,
  reqId: string | undefined,
): boolean {
  // Also sends what an earlier run of the topic had queued, which the snapshot comes after.
  feed.unlisten(topic, connection)
  try {
    const { seq, data } = feed.snapshot(topic)
    const head = { channel: topic.channel, market: feed.market.market, seq }
    void connection.writeBulk(snapshotFrame(head, data, reqId))
  } catch (error) {
    if (error instanceof SnapshotFailed) return false
    throw error
  }
  feed.listen(topic, connection)
  return true
}

interface ReplayParts extends ReplayTarget {
  readonly replayer: Replayer
  readonly goLive: () => void
}

/** `unreadable`: the stream cannot be read now; what the client has stays valid and it can come back for the rest. */
async function replayOf(
  { feed, topic }: Following,
  sinceSeq: number,
  { replayer, goLive, ...target }: ReplayParts,
): Promise<ReplayOutcome | 'unreadable'> {
  if (sinceSeq > feed.headSeq()) return 'too_old'
  try {
    return await replayer.replay({ feed, topic, sinceSeq, target, goLive })
  } catch (error) {
    if (error instanceof BusUnavailable || error instanceof StreamMissing) return 'unreadable'
    throw error
  }
}

function resumedFrame(one: Following, reqId: string): string {
  return ackFrame('resumed', { ...contextOf(one, reqId), seq: one.feed.headSeq() })
}

function keyOf({ feed, topic }: Following): string {
  return `${topic.channel} ${feed.market.market}`
}

function contextOf({ feed, topic }: Following, reqId: string | undefined) {
  return { channel: topic.channel, market: feed.market.market, reqId }
}
