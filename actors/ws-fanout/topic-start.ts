import { mayBeReadLater } from '../../runtime/bus/bus.js'
import type { ClientConnection } from './connection.js'
import type { Replayer, ReplayOutcome, ReplayTarget } from './replay.js'
import { ackFrame, errorFrame, snapshotFrame, type Snapshot } from './server-frames.js'
import { SnapshotFailed } from './snapshots.js'
import type { TopicStream } from './topic-stream.js'

export interface TopicRequest {
  /** The subscription that includes the topic. */
  readonly subscription: string
  readonly sinceSeq: number | undefined
  readonly reqId: string | undefined
}

/** One start of a topic; a later start of the same topic replaces it. */
export interface TopicRun {
  readonly stream: TopicStream
  readonly subscriptions: Set<string>
}

export interface TopicStarterParts {
  readonly connection: ClientConnection
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
    const { stream } = run
    // Also flushes the frames that an earlier run of the topic has queued, which belong before the snapshot.
    stream.unsubscribe(connection)
    // A client gets no state from before what it has seen.
    const minSeq = seen.has(stream.key) ? stream.headSeq() : 0
    seen.add(stream.key)
    try {
      const snapshot = stream.snapshot(minSeq)
      if (snapshot instanceof Promise) return void startWithLarge(run, snapshot, reqId)
      // Without a turn of the event loop in between, in which there could be a change.
      void writeSnapshot(connection, stream, { snapshot, reqId })
      stream.subscribe(connection)
    } catch (error) {
      tellFailure(error, parts, { run, reqId })
    }
  }

  /** The snapshot takes some turns, in which the state changes: a replay follows it. */
  async function startWithLarge(
    run: TopicRun,
    rendering: Promise<Snapshot>,
    reqId: string | undefined,
  ): Promise<void> {
    try {
      const snapshot = await rendering
      if (!isCurrent(run)) return
      const isTaken = await writeSnapshot(connection, run.stream, { snapshot, reqId })
      if (isTaken && isCurrent(run)) await resume(run, snapshot.seq, undefined)
    } catch (error) {
      if (isCurrent(run)) tellFailure(error, parts, { run, reqId })
    }
  }

  async function resume(run: TopicRun, sinceSeq: number, reqId: string | undefined) {
    const { stream } = run
    seen.add(stream.key)
    const outcome = await replayTo(stream, sinceSeq, {
      replayer,
      isCurrent: () => isCurrent(run),
      write: (frames) => connection.writeBulk(frames),
      goLive() {
        // Only a request with an id is acknowledged.
        if (reqId !== undefined) connection.send(resumedFrame(stream, reqId))
        stream.subscribe(connection)
      },
    })
    if (!isCurrent(run)) return
    if (outcome === 'too_old') {
      connection.send(errorFrame('resume_too_old', contextOf(stream, reqId)))
      startWithSnapshot(run, reqId)
    } else if (outcome === 'unreadable') {
      drop(run)
      connection.send(errorFrame('stream_reset', contextOf(stream, reqId)))
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
  connection.send(errorFrame('snapshot_failed', contextOf(run.stream, reqId)))
}

/** Resolves with whether the client has taken it. */
const writeSnapshot = (
  connection: ClientConnection,
  { channel, market, params }: TopicStream,
  { snapshot, reqId }: { readonly snapshot: Snapshot; readonly reqId: string | undefined },
): Promise<boolean> =>
  connection.writeBulk(snapshotFrame({ channel, market, ...params }, snapshot, reqId))

interface ReplayParts extends ReplayTarget {
  readonly replayer: Replayer
  readonly goLive: () => void
}

/** `unreadable`: the bus cannot be read now; the client keeps its state and can resume later. */
async function replayTo(
  stream: TopicStream,
  sinceSeq: number,
  { replayer, goLive, ...target }: ReplayParts,
): Promise<ReplayOutcome | 'unreadable'> {
  if (sinceSeq > stream.headSeq()) return 'too_old'
  try {
    return await replayer.replay({ stream, sinceSeq, target, goLive })
  } catch (error) {
    if (mayBeReadLater(error)) return 'unreadable'
    throw error
  }
}

const resumedFrame = (stream: TopicStream, reqId: string): string =>
  ackFrame('resumed', { ...contextOf(stream, reqId), seq: stream.headSeq() })

const contextOf = ({ channel, market }: TopicStream, reqId: string | undefined) => ({
  channel,
  market,
  reqId,
})
