import type { BookRecord, OrderRecord } from '../../client/index.js'
import { traderSize } from './book-rows.js'
import type { MarketArithmetic } from './market-terms.js'
import { readOrZero } from './numbers.js'

/** Where an own order stands among those of its price. */
export interface QueuePlace {
  /** What is hit before it at its price, in the trader's size at 1e18, rounded down; own orders count too. */
  readonly aheadE18: bigint
  /** How many orders that is. */
  readonly orders: number
}

/** The places of own orders in a book that has the oldest of each price first; those that it does not reach have none. */
export function queuePlaces(
  terms: MarketArithmetic,
  { bids, asks }: Pick<BookRecord, 'bids' | 'asks'>,
  isOwn: (orderId: string) => boolean,
): ReadonlyMap<string, QueuePlace> {
  return new Map([...placesOf(terms, bids, isOwn), ...placesOf(terms, asks, isOwn)])
}

function placesOf(
  terms: MarketArithmetic,
  orders: readonly OrderRecord[],
  isOwn: (orderId: string) => boolean,
): readonly (readonly [string, QueuePlace])[] {
  const places: (readonly [string, QueuePlace])[] = []
  let [price, amountE18, count] = ['', 0n, 0]
  for (const { order_id: id, limit_price: limit, open_amount: open } of orders) {
    if (limit !== price) [price, amountE18, count] = [limit, 0n, 0]
    if (isOwn(id)) {
      const aheadE18 = traderSize(terms, { priceE18: readOrZero(limit), amountE18 })
      places.push([id, { aheadE18, orders: count }])
    }
    amountE18 += readOrZero(open)
    count += 1
  }
  return places
}
