import { decodeBlock } from '../../bus-schemas/block-message.js'
import { StreamMissing, type Bus, type BusMessage } from '../../bus-schemas/bus.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import { applyChange, emptyView } from '../../core/feed.js'
import type { Market } from '../../core/market.js'
import { createAudience, type Listener } from './audience.js'
import { changeFrames } from './change-frames.js'
import { createChangeRing, type Page } from './change-ring.js'
import { createFeedMarks, type FeedMark } from './feed-marks.js'
import {
  LINKED_CHANGES,
  MAX_MARKS,
  REPLAY_PAGE_BYTES,
  RING_CHANGES,
  SESSION_LIMITS,
  type SessionLimits,
} from './limits.js'
import { createOwnerLinks } from './owner-links.js'
import { createSnapshots, type Snapshot } from './snapshots.js'
import type { Topic } from './topic.js'

/** One market as this process has folded it, and those who follow it. */
export interface MarketFeed {
  readonly market: Market
  /** Sequence of the newest change folded here. */
  headSeq(): number
  /** Whether everything that was published before this process started has been folded. */
  isCaughtUp(): boolean
  /**
   * The topic's state at the head. Calling `listen` in the same turn of the event loop continues it exactly: every
   * later change is delivered, no earlier one is. Throws SnapshotFailed.
   */
  snapshot(topic: Topic): Snapshot
  listen(topic: Topic, listener: Listener): void
  unlisten(topic: Topic, listener: Listener): void
  /** What followed `afterSeq`, from memory; undefined when it is not there any more. */
  recentAfter(topic: Topic, afterSeq: number): Page | undefined
  /** Where in the stream reading what followed `afterSeq` has to begin; undefined when that is not known. */
  markBefore(afterSeq: number): FeedMark | undefined
  /** What the `orders` frame of a change names as `prev_seq`; undefined when that is not known any more. */
  ownersPreviousSeq(seq: number): number | undefined
  stop(): Promise<void>
}

export interface MarketFeedOptions {
  readonly bus: Bus
  readonly market: Market
  readonly ringChanges?: number
  readonly linkedChanges?: number
  readonly limits?: SessionLimits
  /** The feed cannot go on: the stream broke off or held something impossible. */
  readonly onFailure: (error: Error) => void
}

/**
 * Follows a market's feed from its first block; a stream that no longer holds it fails through `onFailure`, because the
 * fold of a part is a wrong book. Throws BusUnavailable when the server cannot be asked.
 */
export async function openMarketFeed(options: MarketFeedOptions): Promise<MarketFeed> {
  const { bus, market, ringChanges = RING_CHANGES, limits = SESSION_LIMITS } = options
  const stream = feedStream(market.market)
  const lastAtStart = await lastSeqOf(bus, stream)
  const view = emptyView(market)
  const ring = createChangeRing(ringChanges)
  const marks = createFeedMarks(MAX_MARKS)
  const audience = createAudience()
  const links = createOwnerLinks(options.linkedChanges ?? LINKED_CHANGES)
  const snapshots = createSnapshots(view, limits.maxSnapshotBytes)
  let streamSeq = 0

  function onMessage(message: BusMessage): void {
    const block = decodeBlock(message.data)
    assert(block.market === market.market, `${stream} holds a block of ${block.market}`)
    marks.note({ streamSeq: message.seq, seq: view.seq, lastTradeSeq: view.lastTradeSeq })
    // Nearly every block has a change, so hardly one that is older than this could stay in the ring anyway.
    const worthKeeping = message.seq > lastAtStart - ringChanges
    for (const change of block.changes) {
      const tradeSeq = view.lastTradeSeq
      applyChange(view, change)
      const ownerSeq = links.note(change.seq, change.owner)
      if (!worthKeeping) continue
      const frames = changeFrames(market, change, { tradeSeq, ownerSeq })
      ring.push(frames)
      audience.publish(frames)
    }
    streamSeq = message.seq
  }

  const { onFailure: onError } = options
  const subscription = await bus.follow({ stream, fromSeq: 1, onMessage, onError })

  return {
    market,
    headSeq: () => view.seq,
    isCaughtUp: () => streamSeq >= lastAtStart,
    snapshot: snapshots,
    listen: (topic, listener) => audience.add(topic, listener),
    unlisten: (topic, listener) => audience.remove(topic, listener),
    recentAfter: (topic, afterSeq) => ring.after(topic, afterSeq, REPLAY_PAGE_BYTES),
    markBefore: (afterSeq) => marks.before(afterSeq),
    ownersPreviousSeq: (seq) => links.previousOf(seq),
    stop: () => subscription.stop(),
  }
}

/** 0 also while nobody has declared the stream: nothing has happened to the market yet. */
async function lastSeqOf(bus: Bus, stream: string): Promise<number> {
  try {
    return (await bus.streamState(stream)).lastSeq
  } catch (error) {
    if (error instanceof StreamMissing) return 0
    throw error
  }
}
