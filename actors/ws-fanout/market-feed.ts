import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/contracts/market.js'
import { withTerms } from '../../core/contracts/market-terms.js'
import { applyChange, emptyView } from '../../core/engine/feed.js'
import { StreamMissing, type Bus, type BusMessage } from '../../runtime/bus/bus.js'
import {
  LINKED_CHANGES,
  MAX_MARKS,
  REPLAY_PAGE_BYTES,
  RING_CHANGES,
  SESSION_LIMITS,
  type SessionLimits,
} from './limits.js'
import { changeFrames, type Topic, frameOf, type ChangeFrames } from './server-frames.js'
import { followMarketFacts } from './market-facts.js'
import { createSnapshots, type ShownView, type Snapshots } from './snapshots.js'
import { createSubscribers, type Subscriber } from './subscribers.js'

/** The state of one market, folded from its feed, and its subscribers. */
export interface MarketFeed {
  /** As the feed has stated it last. */
  readonly market: Market
  /** Sequence of the newest change folded here. */
  headSeq(): number
  /** Whether everything published before this process started has been folded. */
  isCaughtUp(): boolean
  /**
   * Snapshots of the market. `subscribe` in the turn of the event loop of a snapshot at the head continues it exactly: it
   * delivers every later change and no earlier one. An older snapshot is continued by a replay.
   */
  readonly snapshots: Snapshots
  subscribe(topic: Topic, subscriber: Subscriber): void
  unsubscribe(topic: Topic, subscriber: Subscriber): void
  /** The frames after `afterSeq`, from memory; undefined when they are no longer held. */
  recentAfter(topic: Topic, afterSeq: number): Page | undefined
  /** Where in the stream to start reading the changes after `afterSeq`; undefined when not known. */
  markBefore(afterSeq: number): FeedMark | undefined
  /** The `prev_seq` of a change's `orders` frame; undefined when it is no longer known. */
  ownersPreviousSeq(seq: number): number | undefined
  stop(): Promise<void>
}

export interface MarketFeedOptions {
  readonly bus: Bus
  readonly market: Market
  /** Unix milliseconds. Defaults to the system clock. */
  readonly nowMs?: () => number
  readonly ringChanges?: number
  readonly linkedChanges?: number
  readonly limits?: SessionLimits
  /** The feed cannot go on: the stream broke off or holds an impossible block. */
  readonly onFailure: (error: Error) => void
}

/**
 * Follows a market's feed from its first block. A stream without that block fails through `onFailure`, because folding
 * a part of it gives a wrong book. Throws BusUnavailable when the server does not answer.
 */
export async function openMarketFeed(options: MarketFeedOptions): Promise<MarketFeed> {
  const { bus, market, ringChanges = RING_CHANGES, limits = SESSION_LIMITS } = options
  const stream = feedStream(market.market)
  const lastAtStart = await lastSeqOf(bus, stream)
  const view: ShownView = emptyView(market)
  const ring = createChangeRing(ringChanges)
  const marks = createFeedMarks(MAX_MARKS)
  const subscribers = createSubscribers()
  const links = createOwnerLinks(options.linkedChanges ?? LINKED_CHANGES)
  const snapshots = createSnapshots(view, limits, options.nowMs)
  let streamSeq = 0

  function onMessage(message: BusMessage): void {
    const block = decodeBlock(message.data)
    assert(block.market === market.market, `${stream} holds a block of ${block.market}`)
    marks.note({ streamSeq: message.seq, seq: view.seq, lastTradeSeq: view.lastTradeSeq })
    // Nearly every block has a change, so the ring would drop the frames of older blocks during the catch-up.
    if (block.terms !== undefined) view.market = withTerms(market, block.terms)
    const isRecent = message.seq > lastAtStart - ringChanges
    for (const change of block.changes) {
      const tradeSeq = view.lastTradeSeq
      applyChange(view, change)
      const ownerSeq = links.note(change.seq, change.owner)
      if (!isRecent) continue
      const frames = changeFrames(view.market, change, { tradeSeq, ownerSeq })
      ring.push(frames)
      subscribers.publish(frames)
    }
    streamSeq = message.seq
  }

  const { onFailure } = options
  const subscription = await bus.follow({ stream, fromSeq: 1, onMessage, onError: onFailure })
  const facts = await followMarketFacts({
    ...{ bus, market, onFailure },
    onObserved: (observation) => (view.observed = observation),
    onIndex: (watch) => (view.index = watch),
  })

  return {
    get market() {
      return view.market
    },
    headSeq: () => view.seq,
    isCaughtUp: () => streamSeq >= lastAtStart,
    snapshots,
    subscribe: (topic, subscriber) => subscribers.add(topic, subscriber),
    unsubscribe: (topic, subscriber) => subscribers.remove(topic, subscriber),
    recentAfter: (topic, afterSeq) => ring.after(topic, afterSeq, REPLAY_PAGE_BYTES),
    markBefore: (afterSeq) => marks.before(afterSeq),
    ownersPreviousSeq: (seq) => links.previousOf(seq),
    stop: async () => {
      await Promise.all([subscription.stop(), facts.stop()])
    },
  }
}

/** 0 also when the stream does not exist yet. */
async function lastSeqOf(bus: Bus, stream: string): Promise<number> {
  try {
    return (await bus.streamState(stream)).lastSeq
  } catch (error) {
    if (error instanceof StreamMissing) return 0
    throw error
  }
}

/** The frames of a topic after a sequence, up to and including `upTo`. */
export interface Page {
  readonly frames: Buffer[]
  readonly upTo: number
}

export interface ChangeRing {
  /** Appends the frames of the next change; a full ring drops the oldest. */
  push(frames: ChangeFrames): void
  /**
   * The topic's frames after `afterSeq`, about `maxBytes` of them; undefined when the ring does not hold the change after
   * it.
   */
  after(topic: Topic, afterSeq: number, maxBytes: number): Page | undefined
}

/** The newest `capacity` changes of a market, as frames. */
export function createChangeRing(capacity: number): ChangeRing {
  const slots: ChangeFrames[] = []
  let newest: number | undefined

  function push(frames: ChangeFrames): void {
    assert(newest === undefined || frames.seq === newest + 1, `frame ${frames.seq} after ${newest}`)
    slots[frames.seq % capacity] = frames
    newest = frames.seq
  }

  function after(topic: Topic, afterSeq: number, maxBytes: number): Page | undefined {
    if (newest === undefined) return undefined
    const frames: Buffer[] = []
    let upTo = afterSeq
    for (let bytes = 0; upTo < newest && bytes < maxBytes; upTo++) {
      const held = slots[(upTo + 1) % capacity]
      if (held?.seq !== upTo + 1) return undefined
      const frame = frameOf(topic, held)
      if (frame !== undefined) frames.push(frame)
      bytes += frame?.length ?? 0
    }
    return { frames, upTo }
  }

  return { push, after }
}

/** The position of a block in its stream, and the sequences before it. */
export interface FeedMark {
  readonly streamSeq: number
  /** Sequence of the newest change before the block. */
  readonly seq: number
  /** Sequence of the newest trade before the block: the `prev_seq` of its first trade frame. */
  readonly lastTradeSeq: number
}

export interface FeedMarks {
  /** Offers the next block of the stream as a mark. */
  note(mark: FeedMark): void
  /** The newest mark at or before `seq`, from which the change after `seq` can be read. */
  before(seq: number): FeedMark | undefined
}

/**
 * A sparse index of a stream, so that a replay need not read it from the start. At `capacity` marks every second one is
 * dropped and the distance between marks doubles.
 */
export function createFeedMarks(capacity: number): FeedMarks {
  let marks: FeedMark[] = []
  let every = 1
  let blocks = 0

  function note(mark: FeedMark): void {
    if (blocks++ % every !== 0) return
    if (marks.length === capacity) {
      marks = marks.filter((_, index) => index % 2 === 0)
      every *= 2
      if ((blocks - 1) % every !== 0) return
    }
    marks.push(mark)
  }

  function before(seq: number): FeedMark | undefined {
    let low = 0
    let high = marks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((marks[middle] as FeedMark).seq <= seq) low = middle + 1
      else high = middle
    }
    return marks[low - 1]
  }

  return { note, before }
}

/** The owner's previous change of each change: the `prev_seq` of `orders` frames. */
export interface OwnerLinks {
  /** Adds the next change and returns its `previousOf`. */
  note(seq: number, owner: Address): number
  /**
   * Sequence of the same owner's change before this one; 0 when none is among the `reach` changes up to this one,
   * undefined when it is no longer known.
   */
  previousOf(seq: number): number | undefined
}

const CHUNK = 65_536
/** Changes between two sweeps: the most owners beyond reach that are held. */
const SWEEP_EVERY = 65_536

/**
 * Holds the links of the newest `reach` changes, each as a distance in four bytes. They depend on the changes alone, so
 * that every worker gives the same answers, also after a restart.
 */
export function createOwnerLinks(reach: number): OwnerLinks {
  const chunkLength = Math.min(CHUNK, reach)
  const chunks: Uint32Array[] = []
  /** Newest change of each owner; one beyond reach is ignored and dropped by the next sweep. */
  const newestOf = new Map<Address, number>()
  let newest: number | undefined

  function note(seq: number, owner: Address): number {
    assert(newest === undefined || seq === newest + 1, `link of change ${seq} after ${newest}`)
    newest = seq
    if (seq % SWEEP_EVERY === 0) sweep(seq - reach)
    const last = newestOf.get(owner) ?? 0
    const previous = last > seq - reach ? last : 0
    newestOf.set(owner, seq)
    const { chunk, at } = slotOf(seq)
    chunk[at] = previous === 0 ? 0 : seq - previous
    return previous
  }

  function sweep(upTo: number): void {
    for (const [owner, lastSeq] of newestOf) if (lastSeq <= upTo) newestOf.delete(owner)
  }

  function previousOf(seq: number): number | undefined {
    if (newest === undefined || seq > newest || seq <= newest - reach) return undefined
    const { chunk, at } = slotOf(seq)
    const distance = chunk[at] ?? 0
    return distance === 0 ? 0 : seq - distance
  }

  function slotOf(seq: number): { readonly chunk: Uint32Array; readonly at: number } {
    const slot = seq % reach
    const chunk = (chunks[Math.floor(slot / chunkLength)] ??= new Uint32Array(chunkLength))
    return { chunk, at: slot % chunkLength }
  }

  return { note, previousOf }
}
