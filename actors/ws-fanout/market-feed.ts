import { decodeBlock } from '../../bus-schemas/block-message.js'
import { StreamMissing, type Bus, type BusMessage } from '../../bus-schemas/bus.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import { applyChange, emptyView, openOrders, type MarketView } from '../../core/feed.js'
import type { Market } from '../../core/market.js'
import { bookRecord } from '../../core/records/book-record.js'
import { tradeRecord } from '../../core/records/trade-record.js'
import { createAudience, type Listener } from './audience.js'
import { changeFrames } from './change-frames.js'
import { createChangeRing, type Channel, type Page } from './change-ring.js'
import { createFeedMarks, type FeedMark } from './feed-marks.js'
import { MAX_MARKS, REPLAY_PAGE_BYTES, RING_CHANGES } from './limits.js'

/** A channel's state at `seq`, its data serialised. */
export interface Snapshot {
  readonly seq: number
  readonly data: Buffer
}

/** One market as this process has folded it, and those who follow it. */
export interface MarketFeed {
  readonly market: Market
  /** Sequence of the newest change folded here. */
  headSeq(): number
  /** Whether everything that was published before this process started has been folded. */
  isCaughtUp(): boolean
  /**
   * The channel's state at the head. Calling `listen` in the same turn of the event loop continues it exactly: every
   * later change is delivered, no earlier one is.
   */
  snapshot(channel: Channel): Snapshot
  listen(channel: Channel, listener: Listener): void
  unlisten(channel: Channel, listener: Listener): void
  /** What followed `afterSeq`, from memory; undefined when it is not there any more. */
  recentAfter(channel: Channel, afterSeq: number): Page | undefined
  /** Where in the stream reading what followed `afterSeq` has to begin; undefined when that is not known. */
  markBefore(afterSeq: number): FeedMark | undefined
  stop(): Promise<void>
}

export interface MarketFeedOptions {
  readonly bus: Bus
  readonly market: Market
  readonly ringChanges?: number
  /** The feed cannot go on: the stream broke off or held something impossible. */
  readonly onFailure: (error: Error) => void
}

/**
 * Follows a market's feed from its first block; a stream that no longer holds it fails through `onFailure`, because the
 * fold of a part is a wrong book. Throws BusUnavailable when the server cannot be asked.
 */
export async function openMarketFeed(options: MarketFeedOptions): Promise<MarketFeed> {
  const { bus, market, ringChanges = RING_CHANGES } = options
  const stream = feedStream(market.market)
  const lastAtStart = await lastSeqOf(bus, stream)
  const view = emptyView(market)
  const ring = createChangeRing(ringChanges)
  const marks = createFeedMarks(MAX_MARKS)
  const audience = createAudience()
  const snapshots = createSnapshots(view)
  let streamSeq = 0

  function onMessage(message: BusMessage): void {
    const block = decodeBlock(message.data)
    assert(block.market === market.market, `${stream} holds a block of ${block.market}`)
    marks.note({ streamSeq: message.seq, seq: view.seq, lastTradeSeq: view.lastTradeSeq })
    // A block has at least one change, so older blocks than this could not stay in the ring anyway.
    const worthKeeping = message.seq > lastAtStart - ringChanges
    for (const change of block.changes) {
      const previousTradeSeq = view.lastTradeSeq
      applyChange(view, change)
      if (!worthKeeping) continue
      const frames = changeFrames(market, change, previousTradeSeq)
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
    listen: (channel, listener) => audience.add(channel, listener),
    unlisten: (channel, listener) => audience.remove(channel, listener),
    recentAfter: (channel, afterSeq) => ring.after(channel, afterSeq, REPLAY_PAGE_BYTES),
    markBefore: (afterSeq) => marks.before(afterSeq),
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

/** Builds each channel's snapshot at most once per sequence, however many ask for it. */
function createSnapshots(view: MarketView): (channel: Channel) => Snapshot {
  const cached = new Map<Channel, Snapshot>()
  return (channel) => {
    const known = cached.get(channel)
    if (known?.seq === view.seq) return known
    const data = channel === 'book' ? bookData(view) : tradesData(view)
    const snapshot = { seq: view.seq, data: Buffer.from(JSON.stringify(data)) }
    cached.set(channel, snapshot)
    return snapshot
  }
}

function bookData(view: MarketView): unknown {
  const { lastTradeAtMs } = view
  const options = lastTradeAtMs === undefined ? {} : { lastTradeSec: wholeSeconds(lastTradeAtMs) }
  return bookRecord(view.market, openOrders(view), options)
}

function tradesData(view: MarketView): unknown {
  return view.trades.map((trade) => tradeRecord(view.market, trade))
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000)
}
