import type { Market } from '../../core/contracts/market.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { orderRecordJson } from '../../core/records/order-record.js'
import type { BookRow } from '../../data/history/read-book.js'
import type { ReadModel } from '../../data/history/read-model.js'

/** One side of a book: its order records as JSON, best first, parted by commas. */
export interface RenderedSide {
  readonly bytes: Uint8Array
  /** Where each record ends in `bytes`. */
  readonly ends: Uint32Array
}

/** The visible book of a market as of a feed `seq`. */
export interface RenderedBook {
  readonly seq: number
  /** Unix seconds of the newest fill; undefined before the first. */
  readonly lastTradeSec: number | undefined
  readonly bids: RenderedSide
  readonly asks: RenderedSide
}

interface RenderedOrder {
  readonly updatedSeq: number
  readonly bytes: Buffer
}

const COMMA = Buffer.from(',')

/**
 * Renders books. An order is rendered again only when it or its market's presentation has changed; what is kept follows
 * the books, not the history.
 */
export function createBookRenderer(
  readModel: Pick<ReadModel, 'book'>,
): (market: Market) => RenderedBook {
  const kept = new Map<string, { form: string; orders: Map<number, RenderedOrder> }>()
  return (market) => {
    const form = JSON.stringify(marketEntry(market))
    const before = kept.get(market.market)
    const known = before?.form === form ? before.orders : new Map<number, RenderedOrder>()
    const isKnown = (key: number, updatedSeq: number): boolean =>
      known.get(key)?.updatedSeq === updatedSeq
    const { bids, asks, seq, lastTradeSec } = readModel.book(market.market, isKnown)
    const orders = new Map<number, RenderedOrder>()
    const sideOf = (rows: readonly BookRow[]): RenderedSide =>
      joined(
        rows.map((row) => {
          const rendered = rendering(market, row) ?? known.get(row.key)
          if (rendered === undefined) return COMMA.subarray(0, 0)
          orders.set(row.key, rendered)
          return rendered.bytes
        }),
      )
    const rendered = { seq, lastTradeSec, bids: sideOf(bids), asks: sideOf(asks) }
    kept.set(market.market, { form, orders })
    return rendered
  }
}

function rendering(market: Market, { updatedSeq, open }: BookRow): RenderedOrder | undefined {
  if (open === undefined) return undefined
  const json = orderRecordJson(market, open.order, open.progress)
  // Not from the pool of small buffers, of which one kept order would hold back many others.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(json))
  bytes.write(json)
  return { updatedSeq, bytes }
}

/** In memory that threads share: the one that answers sends it, and the one that rendered it compresses it. */
function joined(records: readonly Buffer[]): RenderedSide {
  const ends = new Uint32Array(records.length)
  const length = records.reduce((sum, { length: of }) => sum + of + 1, 0)
  const bytes = Buffer.from(new SharedArrayBuffer(Math.max(0, length - 1)))
  let at = 0
  for (const [index, record] of records.entries()) {
    if (index > 0) at += COMMA.copy(bytes, at)
    at += record.copy(bytes, at)
    ends[index] = at
  }
  return { bytes, ends }
}
