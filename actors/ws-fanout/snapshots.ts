import type { Address } from '../../core/action.js'
import { openOrders, ordersOf, type MarketView } from '../../core/feed.js'
import { bookRecordJson } from '../../core/records/book-record.js'
import { orderRecordJson } from '../../core/records/order-record.js'
import { tradeRecord } from '../../core/records/trade-record.js'
import { MAX_KEPT_SNAPSHOTS } from './limits.js'
import type { Topic } from './topic.js'

/** A topic's state at `seq`, its data serialised. */
export interface Snapshot {
  readonly seq: number
  readonly data: Buffer
}

/** The state is too large to be sent. */
export class SnapshotFailed extends Error {
  override readonly name = 'SnapshotFailed'
}

/** Builds each topic's snapshot at most once per sequence, however many ask for it. Throws SnapshotFailed. */
export function createSnapshots(view: MarketView, maxBytes: number): (topic: Topic) => Snapshot {
  const kept = new Map<string, Snapshot>()
  let keptSeq = view.seq
  return (topic) => {
    const { seq } = view
    if (seq !== keptSeq || kept.size >= MAX_KEPT_SNAPSHOTS) kept.clear()
    keptSeq = seq
    const key = topic.channel === 'orders' ? topic.owner : topic.channel
    const known = kept.get(key)
    if (known !== undefined) return known
    const snapshot = { seq, data: serialised(() => dataOf(view, topic), maxBytes) }
    kept.set(key, snapshot)
    return snapshot
  }
}

/** As JSON. */
function dataOf(view: MarketView, topic: Topic): string {
  if (topic.channel === 'book') return bookData(view)
  if (topic.channel === 'orders') return ordersData(view, topic.owner)
  return JSON.stringify(view.trades.map((trade) => tradeRecord(view.market, trade)))
}

function bookData(view: MarketView): string {
  const { lastTradeAtMs } = view
  const options = lastTradeAtMs === undefined ? {} : { lastTradeSec: wholeSeconds(lastTradeAtMs) }
  return bookRecordJson(view.market, openOrders(view), options)
}

function ordersData(view: MarketView, owner: Address): string {
  const records = ordersOf(view, owner).map(({ order, progress }) =>
    orderRecordJson(view.market, order, progress),
  )
  return `[${records.join(',')}]`
}

function serialised(write: () => string, maxBytes: number): Buffer {
  let bytes: Buffer
  try {
    bytes = Buffer.from(write())
  } catch (cause) {
    // A text longer than the platform can hold.
    if (cause instanceof RangeError) throw new SnapshotFailed('too long to be text', { cause })
    throw cause
  }
  if (bytes.length <= maxBytes) return bytes
  throw new SnapshotFailed(`${bytes.length} bytes, more than ${maxBytes}`)
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000)
}
