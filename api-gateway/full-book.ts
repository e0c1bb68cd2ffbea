import type { Market } from '../core/market.js'
import { bookRecordJson } from '../core/records/book-record.js'
import type { ReadModel } from '../data/read-model.js'

/** A larger book is presented afresh each time rather than kept. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024

/** The whole visible book of a market as the UTF-8 bytes of its JSON, as of now. */
export type FullBook = (market: Market) => Buffer

/**
 * Keeps the newest book of each market, which is the same until the projection moves on. Holds one entry per market;
 * must be called with markets of the venue only.
 */
export function createFullBook(
  readModel: Pick<ReadModel, 'projectedSeq' | 'openOrders' | 'lastTradeSec'>,
  maxKeptBytes = MAX_KEPT_BYTES,
): FullBook {
  const kept = new Map<string, { readonly seq: number; readonly bytes: Buffer }>()

  return (market) => {
    const name = market.market
    // Read before the orders: if the projection moves on in between, the entry is newer than it says and soon replaced.
    const seq = readModel.projectedSeq(name)
    const last = kept.get(name)
    if (last?.seq === seq) return last.bytes
    const lastTradeSec = readModel.lastTradeSec(name)
    const bytes = Buffer.from(bookRecordJson(market, readModel.openOrders(name), { lastTradeSec }))
    if (bytes.length <= maxKeptBytes) kept.set(name, { seq, bytes })
    else kept.delete(name)
    return bytes
  }
}
