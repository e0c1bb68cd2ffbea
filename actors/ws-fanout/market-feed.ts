import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import { applyChange, emptyView, standOf, type OrderStand } from '../../core/engine/feed.js'
import type { LevelChange } from '../../core/market-data/level-book.js'
import { isNextSeq } from '../../core/model/change.js'
import { withTerms, type MarketTerms } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import type { Order } from '../../core/model/order.js'
import {
  stateOrEmpty,
  type Bus,
  type BusMessage,
  type Subscription,
} from '../../runtime/bus/bus.js'
import type { FeedFold } from './feed-fold.js'
import { createFillsChannel, type FillsChannel } from './fills-channel.js'
import {
  LINKED_CHANGES,
  MAX_MARKS,
  REPLAY_PAGE_BYTES,
  RING_CHANGES,
  SESSION_LIMITS,
  type SessionLimits,
} from './limits.js'
import { createMarketData, type MarketDataChannels } from './market-data.js'
import { followMarketFacts } from './market-facts.js'
import { createOwnerLinks } from './own-stream.js'
import { createOwnerClaims, type OwnerClaims } from './owner-claims.js'
import { changeFrames, frameOf, type ChangeFrames, type Topic } from './server-frames.js'
import { createSnapshots, type ShownView, type Snapshots } from './snapshots.js'
import { createSubscribers, type Subscriber } from './subscribers.js'
import type { FramePage } from './topic-stream.js'

/** What the channels hold of a market that are not numbered by its changes; one line each. */
interface MarketChannels extends Readonly<Record<string, FeedFold>> {
  readonly fills: FillsChannel
  readonly claims: OwnerClaims
}

/** `held` events of each channel stay in memory. */
function createMarketChannels(view: ShownView, held: number): MarketChannels {
  const fills = createFillsChannel(view, held)
  return { fills, claims: createOwnerClaims(view, fills) }
}

/** The state of one market, folded from its feed, and its subscribers. */
export interface MarketFeed {
  /** As the feed has stated it last. */
  readonly market: Market
  /** Takes the texts of the market anew; its terms stay those of its feed. */
  reword(registered: Market): void
  /** Sequence of the newest change folded here. */
  headSeq(): number
  /** Whether everything published before this process started has been folded. */
  isCaughtUp(): boolean
  /**
   * Snapshots of the market. `subscribe` in the turn of the event loop of a snapshot at the head continues it exactly: it
   * delivers every later change and no earlier one. An older snapshot is continued by a replay.
   */
  readonly snapshots: Snapshots
  /** What the other channels hold of the market. */
  readonly channels: MarketChannels
  /** The channels of absolute values. */
  readonly data: MarketDataChannels
  subscribe(topic: Topic, subscriber: Subscriber): void
  unsubscribe(topic: Topic, subscriber: Subscriber): void
  /** The frames after `afterSeq`, from memory; undefined when they are no longer held. */
  recentAfter(topic: Topic, afterSeq: number): FramePage | undefined
  /** Where in the stream to start reading the changes after `afterSeq`; undefined when not known. */
  markBefore(afterSeq: number): FeedMark | undefined
  /** What is known now of an order that is live, or ended not long ago. */
  standOf(orderId: string): OrderStand | undefined
  /** The `prev_seq` of a change's `orders` frame; undefined when it is no longer known. */
  ownersPreviousSeq(seq: number): number | undefined
  stop(): Promise<void>
}

interface MarketFeedOptions {
  readonly bus: Bus
  readonly market: Market
  /** Unix milliseconds. Defaults to the system clock. */
  readonly nowMs?: () => number
  readonly ringChanges?: number
  readonly linkedChanges?: number
  readonly limits?: SessionLimits
  /** Called when the frames of a block that the bus stored at this time, in unix milliseconds, are with the sockets. */
  readonly onFrames?: (market: string, storedAtMs: number) => void
  /** Called when the market becomes a listed one whose feed is caught up. */
  readonly onListed?: (market: string) => void
  /** Called with each order that the market has taken. */
  readonly onPlaced?: (market: string, order: Order) => void
  /** The feed cannot go on: the stream broke off or holds an impossible block. */
  readonly onFailure: (error: Error) => void
}

/**
 * Follows a market's feed from its first block. A stream without that block fails through `onFailure`, because folding
 * a part of it gives a wrong book. Throws BusUnavailable when the server does not answer.
 */
export async function openMarketFeed(options: MarketFeedOptions): Promise<MarketFeed> {
  const { bus, market, ringChanges = RING_CHANGES, nowMs = Date.now, onFailure } = options
  const stream = feedStream(market.market)
  const { lastSeq: lastAtStart } = await stateOrEmpty(bus, stream)
  const view: ShownView = emptyView(market)
  const ring = createChangeRing(ringChanges)
  const marks = createFeedMarks(MAX_MARKS)
  const subscribers = createSubscribers()
  const links = createOwnerLinks(options.linkedChanges ?? LINKED_CHANGES)
  const snapshots = createSnapshots(view, options.limits ?? SESSION_LIMITS, nowMs)
  const channels = createMarketChannels(view, ringChanges)
  const folds: FeedFold[] = Object.values(channels)
  const data = createMarketData({ view, changesAfter: ring.levelsAfter, nowMs })
  let streamSeq = 0
  const shown = createShownMarket(market)
  const noteListed = watchListed(() => view.market.enabled && streamSeq >= lastAtStart, options)

  function onMessage(message: BusMessage): void {
    const block = decodeBlock(message.data)
    assert(block.market === market.market, `${stream} holds a block of ${block.market}`)
    marks.note({ streamSeq: message.seq, seq: view.seq, lastTradeSeq: view.lastTradeSeq })
    // Nearly every block has a change, so the ring would drop the frames of older blocks during the catch-up.
    if (block.terms !== undefined) view.market = shown.state(block.terms)
    const isRecent = message.seq > lastAtStart - ringChanges
    for (const change of block.changes) {
      const tradeSeq = view.lastTradeSeq
      for (const fold of folds) fold.before?.(change)
      const stand = applyChange(view, change)
      if (change.kind === 'OrderPlaced') options.onPlaced?.(market.market, change.order)
      const ownerSeq = links.note(change.seq, change.owner)
      if (!isRecent) continue
      const frames = changeFrames(view.market, change, { tradeSeq, ownerSeq, stand })
      ring.push(frames)
      subscribers.publish(frames)
    }
    for (const fold of folds) fold.after?.(block)
    data.after(block, message.storedAtMs)
    streamSeq = message.seq
    if (streamSeq > lastAtStart) options.onFrames?.(market.market, message.storedAtMs)
    noteListed()
  }

  const subscription = await bus.follow({ stream, fromSeq: 1, onMessage, onError: onFailure })
  const facts = await followFacts(options, view, () => data.changed())

  return {
    get market() {
      return view.market
    },
    reword: (registered) => void (view.market = shown.reword(registered)),
    headSeq: () => view.seq,
    isCaughtUp: () => streamSeq >= lastAtStart,
    snapshots,
    channels,
    data,
    subscribe: (topic, subscriber) => subscribers.add(topic, subscriber),
    unsubscribe: (topic, subscriber) => subscribers.remove(topic, subscriber),
    recentAfter: (topic, afterSeq) => ring.after(topic, afterSeq, REPLAY_PAGE_BYTES),
    markBefore: (afterSeq) => marks.before(afterSeq),
    standOf: (orderId) => standOf(view, orderId),
    ownersPreviousSeq: (seq) => links.previousOf(seq),
    stop: async () => {
      data.stop()
      await Promise.all([subscription.stop(), facts.stop()])
    },
  }
}

/** Shows what the chain reader has observed of the market. */
const followFacts = (
  { bus, market, onFailure }: MarketFeedOptions,
  view: ShownView,
  onChange: () => void,
): Promise<Subscription> =>
  followMarketFacts({
    bus,
    market,
    onFailure,
    onObserved(observation) {
      view.observed = observation
      onChange()
    },
    onIndex: (watch) => (view.index = watch),
  })

/** A market as its feed has stated it last, with its newest texts. */
function createShownMarket(registered: Market) {
  let worded = registered
  let terms: MarketTerms | undefined
  const now = (): Market => (terms === undefined ? worded : withTerms(worded, terms))
  return {
    state(stated: MarketTerms): Market {
      terms = stated
      return now()
    },
    reword(anew: Market): Market {
      worded = anew
      return now()
    },
  }
}

/** Calls back when `isListed` has become true between two calls. */
function watchListed(
  isListed: () => boolean,
  { market, onListed }: Pick<MarketFeedOptions, 'market' | 'onListed'>,
): () => void {
  let was = isListed()
  return () => {
    const before = was
    was = isListed()
    if (was && !before) onListed?.(market.market)
  }
}

interface ChangeRing {
  /** Appends the frames of the next change; a full ring drops the oldest. */
  push(frames: ChangeFrames): void
  /**
   * The topic's frames after `afterSeq`, about `maxBytes` of them; undefined when the ring does not hold the change after
   * it.
   */
  after(topic: Topic, afterSeq: number, maxBytes: number): FramePage | undefined
  /** What the changes after `afterSeq` did to their levels; undefined when the ring does not hold all of them. */
  readonly levelsAfter: (afterSeq: number) => readonly LevelChange[] | undefined
}

/** The newest `capacity` changes of a market, as frames. */
export function createChangeRing(capacity: number): ChangeRing {
  const slots: ChangeFrames[] = []
  let newest: number | undefined

  function push(frames: ChangeFrames): void {
    assert(
      newest === undefined || isNextSeq(frames.seq, newest),
      `frame ${frames.seq} after ${newest}`,
    )
    slots[frames.seq % capacity] = frames
    newest = frames.seq
  }

  function after(topic: Topic, afterSeq: number, maxBytes: number): FramePage | undefined {
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

  function levelsAfter(afterSeq: number): readonly LevelChange[] | undefined {
    const levels: LevelChange[] = []
    for (let seq = afterSeq + 1; seq <= (newest ?? afterSeq); seq++) {
      const held = slots[seq % capacity]
      if (held?.seq !== seq) return undefined
      levels.push(held.level)
    }
    return levels
  }

  return { push, after, levelsAfter }
}

/** The position of a block in its stream, and the sequences before it. */
interface FeedMark {
  readonly streamSeq: number
  /** Sequence of the newest change before the block. */
  readonly seq: number
  /** Sequence of the newest trade before the block: the `prev_seq` of its first trade frame. */
  readonly lastTradeSeq: number
}

interface FeedMarks {
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
