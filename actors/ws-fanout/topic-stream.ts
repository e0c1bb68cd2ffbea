import type { Bus } from '../../runtime/bus/bus.js'
import type { Channel } from '../../interface/socket.js'
import type { Snapshot } from './server-frames.js'
import type { Subscriber } from './subscribers.js'

/**
 * One topic as one client follows it: a state at a sequence, then everything after it. `subscribe` in the turn of the event
 * loop of a snapshot at the head continues it exactly; an older snapshot is continued by a replay.
 */
export interface TopicStream {
  /** Tells the topics of one connection apart. */
  readonly key: string
  readonly channel: Channel
  /** Canonical identifier; undefined for a topic of no market. */
  readonly market: string | undefined
  /** What else tells its frames apart, as they carry it: depth or interval. */
  readonly params?: Readonly<Record<string, unknown>>
  /** Sequence of the newest frame's change, 0 before the first. */
  headSeq(): number
  /**
   * The state at the head; a promise of one at `minSeq` or later where that takes several turns. Throws or rejects with
   * SnapshotFailed.
   */
  snapshot(minSeq: number): Snapshot | Promise<Snapshot>
  /** The frames after `afterSeq`, from memory; undefined when they are no longer held. */
  recentAfter(afterSeq: number): FramePage | undefined
  /** The same from the bus. Absent where only memory is replayed. */
  olderPages?(afterSeq: number, source: PageSource): AsyncGenerator<FramePage, PagesEnd>
  /** Delivers every frame from the next on. */
  subscribe(subscriber: Subscriber): void
  /** Also delivers what is queued. */
  unsubscribe(subscriber: Subscriber): void
}

/** The frames of a topic after a sequence, up to and including `upTo`. */
export interface FramePage {
  readonly frames: Buffer[]
  readonly upTo: number
}

/** Why the pages end: the head was reached, or the stream does not hold the next change. */
export type PagesEnd = 'head' | 'gone'

export interface PageSource {
  readonly bus: Bus
  /** Limits concurrent reads. */
  readonly limiter: ReadLimiter
}

/** Runs a task when a place is free. */
export type ReadLimiter = <T>(task: () => Promise<T>) => Promise<T>
