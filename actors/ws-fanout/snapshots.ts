import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Address } from '../../core/action.js'
import { indexLagAt, type IndexWatch } from '../../core/contracts/index-lag.js'
import { openOrders, ordersOf, type MarketView } from '../../core/engine/feed.js'
import type { MarketObservation } from '../../core/model/observation.js'
import {
  bookHeadJson,
  bookOrdersJson,
  orderRecordJson,
  sidesOf,
  type OpenOrder,
} from '../../core/records/order-record.js'
import { tradeRecord } from '../../core/records/trade-record.js'
import { MAX_KEPT_SNAPSHOTS } from './limits.js'
import type { Topic, Snapshot } from './server-frames.js'

/** The state is too large to send. */
export class SnapshotFailed extends Error {
  override readonly name = 'SnapshotFailed'
}

/** A market as its feed and the newest observation in its log show it. */
export interface ShownView extends MarketView {
  observed?: MarketObservation
  index?: IndexWatch | undefined
}

export interface SnapshotLimits {
  /** A larger snapshot fails. */
  readonly maxSnapshotBytes: number
  /** A book of more orders is rendered over several turns of the event loop, so many in each. */
  readonly snapshotOrdersPerTurn: number
}

/** The snapshots of a market. Of the book, what the chain shows of the market is always the newest. */
export interface Snapshots {
  /**
   * The topic's state at the head; built at most once per sequence and terms. Undefined for a book that takes more than
   * one turn. Throws SnapshotFailed.
   */
  atOnce(topic: Topic): Snapshot | undefined
  /** The book as of `minSeq` or later. Calls that come meanwhile share it. Rejects with SnapshotFailed. */
  largeBook(minSeq: number): Promise<Snapshot>
}

export function createSnapshots(
  view: ShownView,
  limits: SnapshotLimits,
  nowMs = Date.now,
): Snapshots {
  const kept = new Map<string, Buffer>()
  let [keptSeq, keptMarket] = [view.seq, view.market]
  let running: { readonly seq: number; readonly snapshot: Promise<Snapshot> } | undefined
  return {
    atOnce(topic) {
      const { seq, market } = view
      const isKept = seq === keptSeq && market === keptMarket
      if (!isKept || kept.size >= MAX_KEPT_SNAPSHOTS) kept.clear()
      ;[keptSeq, keptMarket] = [seq, market]
      const isBook = topic.channel === 'book'
      if (isBook && view.live.size > limits.snapshotOrdersPerTurn) return undefined
      const key = topic.channel === 'orders' ? topic.owner : topic.channel
      const data = kept.get(key) ?? serialised(() => dataOf(view, topic), limits)
      kept.set(key, data)
      return { seq, data: isBook ? [headOf(view, nowMs()), data] : [data] }
    },
    largeBook(minSeq) {
      if (running !== undefined && running.seq >= minSeq) return running.snapshot
      const snapshot = renderLargeBook(view, limits, headOf(view, nowMs()))
      const mine = { seq: view.seq, snapshot }
      running = mine
      const done = () => {
        if (running === mine) running = undefined
      }
      snapshot.then(done, done)
      return snapshot
    },
  }
}

/** Of the orders as they are now: what a change makes of an order is another value. */
async function renderLargeBook(
  view: ShownView,
  limits: SnapshotLimits,
  head: Buffer,
): Promise<Snapshot> {
  const { seq, market } = view
  const { bids, asks } = sidesOf(openOrders(view))
  const data: Buffer[] = [head]
  let bytes = 0
  const add = (text: string): void => {
    const part = Buffer.from(text)
    bytes += part.length
    refuseAbove(bytes, limits)
    data.push(part)
  }
  const addSide = async (side: readonly OpenOrder[]): Promise<void> => {
    for (let at = 0; at < side.length; at += limits.snapshotOrdersPerTurn) {
      const some = side.slice(at, at + limits.snapshotOrdersPerTurn)
      const texts = some.map((open) => orderRecordJson(market, open))
      add(`${at === 0 ? '' : ','}${texts.join(',')}`)
      await nextTurn()
    }
  }
  add('"bids":[')
  await addSide(bids)
  add('],"asks":[')
  await addSide(asks)
  add(']}')
  return { seq, data }
}

/** The text of a book up to its orders. */
function headOf({ market, observed, index, lastTradeAtMs }: ShownView, nowMs: number): Buffer {
  const lastTradeSec = lastTradeAtMs === undefined ? undefined : Math.floor(lastTradeAtMs / 1_000)
  const indexLag = index && indexLagAt(index, nowMs)
  return Buffer.from(bookHeadJson(market, { lastTradeSec, observed, indexLag }))
}

/** The snapshot's data as JSON; of the book what follows its head. */
function dataOf(view: MarketView, topic: Topic): string {
  if (topic.channel === 'book') return bookOrdersJson(view.market, openOrders(view))
  if (topic.channel === 'orders') return ordersData(view, topic.owner)
  return JSON.stringify(view.trades.map((trade) => tradeRecord(view.market, trade)))
}

function ordersData(view: MarketView, owner: Address): string {
  const records = ordersOf(view, owner).map((own) => orderRecordJson(view.market, own))
  return `[${records.join(',')}]`
}

function serialised(write: () => string, limits: SnapshotLimits): Buffer {
  let bytes: Buffer
  try {
    bytes = Buffer.from(write())
  } catch (cause) {
    // The text is longer than the longest string of the platform.
    if (cause instanceof RangeError) throw new SnapshotFailed('too long to be text', { cause })
    throw cause
  }
  refuseAbove(bytes.length, limits)
  return bytes
}

function refuseAbove(bytes: number, { maxSnapshotBytes: max }: SnapshotLimits): void {
  if (bytes > max) throw new SnapshotFailed(`${bytes} bytes, more than ${max}`)
}
