import { BusUnavailable, StreamMissing } from '../../runtime/bus/bus.js'
import type { Connection } from './connection.js'
import type { MarketFeed } from './market-feed.js'
import type { Replayer, ReplayOutcome, ReplayTarget } from './replay.js'
import { ackFrame, errorFrame, snapshotFrame, type Topic } from './server-frames.js'
import { SnapshotFailed, type Snapshot } from './snapshots.js'

/** One topic of one market. */
export interface MarketTopic {
  readonly feed: MarketFeed
  readonly topic: Topic
}

export interface TopicRequest {
  /** The subscription that includes the topic. */
  readonly subscription: string
  readonly sinceSeq: number | undefined
  readonly reqId: string | undefined
}

/** One start of a topic; a later start of the same topic replaces it. */
export interface TopicRun {
  readonly target: MarketTopic
  readonly subscriptions: Set<string>
}

export interface TopicStarterParts {
  readonly connection: Connection
  readonly replayer: Replayer
  /** Whether the client still wants what this run delivers. */
  readonly isCurrent: (run: TopicRun) => boolean
  /** Forgets a run that could not start. */
  readonly drop: (run: TopicRun) => void
}

/** Starts the topics of one client: with a snapshot, or with the frames after `sinceSeq`; the live frames follow. */
export function createTopicStarter(parts: TopicStarterParts) {
  const { connection, replayer, isCurrent, drop } = parts
  /** Topics of which this client has seen a state. */
  const seen = new Set<string>()

  function startWithSnapshot(run: TopicRun, reqId: string | undefined): void {
    const { feed, topic } = run.target
    // Also flushes the frames that an earlier run of the topic has queued, which belong before the snapshot.
    feed.unsubscribe(topic, connection)
    // A client gets no state from before what it has seen.
    const minSeq = seen.has(keyOf(run.target)) ? feed.headSeq() : 0
    seen.add(keyOf(run.target))
    try {
      const snapshot = feed.snapshots.atOnce(topic)
      if (snapshot === undefined) return void startWithLargeBook(run, { minSeq, reqId })
      // Without a turn of the event loop in between, in which there could be a change.
      void writeSnapshot(connection, run.target, { snapshot, reqId })
      feed.subscribe(topic, connection)
    } catch (error) {
      tellFailure(error, parts, { run, reqId })
    }
  }

  /** The snapshot takes some turns, in which the book changes: a replay follows it. */
  async function startWithLargeBook(
    run: TopicRun,
    { minSeq, reqId }: { readonly minSeq: number; readonly reqId: string | undefined },
  ): Promise<void> {
    const { feed } = run.target
    try {
      const snapshot = await feed.snapshots.largeBook(minSeq)
      if (!isCurrent(run)) return
      const isTaken = await writeSnapshot(connection, run.target, { snapshot, reqId })
      if (isTaken && isCurrent(run)) await resume(run, snapshot.seq, undefined)
    } catch (error) {
      if (isCurrent(run)) tellFailure(error, parts, { run, reqId })
    }
  }

  async function resume(run: TopicRun, sinceSeq: number, reqId: string | undefined) {
    const { target } = run
    seen.add(keyOf(target))
    const outcome = await replayTo(target, sinceSeq, {
      replayer,
      isCurrent: () => isCurrent(run),
      write: (frames) => connection.writeBulk(frames),
      goLive() {
        // Only a request with an id is acknowledged.
        if (reqId !== undefined) connection.send(resumedFrame(target, reqId))
        target.feed.subscribe(target.topic, connection)
      },
    })
    if (!isCurrent(run)) return
    if (outcome === 'too_old') {
      connection.send(errorFrame('resume_too_old', contextOf(target, reqId)))
      startWithSnapshot(run, reqId)
    } else if (outcome === 'unreadable') {
      drop(run)
      connection.send(errorFrame('stream_reset', contextOf(target, reqId)))
    }
  }

  return (run: TopicRun, { sinceSeq, reqId }: TopicRequest): void => {
    if (sinceSeq === undefined) startWithSnapshot(run, reqId)
    else void resume(run, sinceSeq, reqId)
  }
}

/** Tells the client of a snapshot that failed, and forgets the run. Throws what is no such failure. */
function tellFailure(
  error: unknown,
  { connection, drop }: Pick<TopicStarterParts, 'connection' | 'drop'>,
  { run, reqId }: { readonly run: TopicRun; readonly reqId: string | undefined },
): void {
  if (!(error instanceof SnapshotFailed)) throw error
  drop(run)
  connection.send(errorFrame('snapshot_failed', contextOf(run.target, reqId)))
}

/** Resolves with whether the client has taken it. */
const writeSnapshot = (
  connection: Connection,
  { feed, topic }: MarketTopic,
  { snapshot, reqId }: { readonly snapshot: Snapshot; readonly reqId: string | undefined },
): Promise<boolean> =>
  connection.writeBulk(
    snapshotFrame({ channel: topic.channel, market: feed.market.market }, snapshot, reqId),
  )

interface ReplayParts extends ReplayTarget {
  readonly replayer: Replayer
  readonly goLive: () => void
}

/** `unreadable`: the stream cannot be read now; the client keeps its state and can resume later. */
async function replayTo(
  { feed, topic }: MarketTopic,
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

function resumedFrame(target: MarketTopic, reqId: string): string {
  return ackFrame('resumed', { ...contextOf(target, reqId), seq: target.feed.headSeq() })
}

export function keyOf({ feed, topic }: MarketTopic): string {
  return `${topic.channel} ${feed.market.market}`
}

function contextOf({ feed, topic }: MarketTopic, reqId: string | undefined) {
  return { channel: topic.channel, market: feed.market.market, reqId }
}
