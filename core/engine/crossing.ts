import type { PriceRange } from '../contracts/contract.js'
import type { LiveOrder } from '../model/live-order.js'
import type { Side } from '../model/order.js'
import type { PriceE18 } from '../money.js'
import { bestOf, levelsOf, ordersOf } from './book.js'
import type { MatcherState } from './state.js'

// Which orders of the book an order crosses.

/** Whether an order with this limit meets a price of the other side. */
export function crosses(
  incoming: Pick<LiveOrder, 'side' | 'limitPrice'>,
  { limitPrice: price }: Pick<LiveOrder, 'limitPrice'>,
): boolean {
  const limit = incoming.limitPrice
  return incoming.side === 'buy' ? price <= limit : price >= limit
}

/** The order that the incoming one crosses first, whether they may match or not. */
export function firstCrossing(state: MatcherState, incoming: LiveOrder): LiveOrder | undefined {
  if (state.trading.fillRange === undefined) {
    const best = bestOf(state.book, oppositeOf(incoming))
    return best !== undefined && crosses(incoming, best) ? best : undefined
  }
  for (const resting of crossingOrders(state, incoming)) return resting
  return undefined
}

const oppositeOf = ({ side }: LiveOrder): Side => (side === 'buy' ? 'sell' : 'buy')

/**
 * The orders that the incoming one would meet one after the other, from the first or from behind one that is in the book; those
 * out of reach are left out.
 */
export function* crossingOrders(
  state: MatcherState,
  incoming: LiveOrder,
  behind?: LiveOrder,
): Generator<LiveOrder> {
  const isReachable = reachOf(state)
  const asMaker = isReachable(incoming.limitPrice)
  for (const level of levelsOf(state.book, oppositeOf(incoming), behind?.level)) {
    if (!crosses(incoming, { limitPrice: level.price })) return
    const asTaker = isReachable(level.price)
    // The price is that of the earlier order.
    if (!asTaker && (!asMaker || level.last.rank < incoming.rank)) continue
    let live: LiveOrder | undefined = level === behind?.level ? behind.next : level.first
    for (; live !== undefined; live = live.next) {
      if (live.rank < incoming.rank ? asTaker : asMaker) yield live
    }
  }
}

const anyPrice = (): boolean => true

/** Whether the chain would fill at a price now: within the market's range, and not refused since its newest observation. */
export function reachOf({
  trading,
  observed,
  nowMs,
  refusedPrices,
}: MatcherState): (price: PriceE18) => boolean {
  const range = trading.fillRange?.(observed, nowMs)
  if (range === undefined) return anyPrice
  return (price) => isWithin(range, price) && !refusedPrices.has(price)
}

const isWithin = ({ low, high }: PriceRange, price: PriceE18): boolean =>
  price >= low && price <= high

/** The later order of the best pair that crosses within reach; one of the two may have to be hidden instead. */
export function laterOfCrossing(state: MatcherState): LiveOrder | undefined {
  const ask = bestOf(state.book, 'sell')
  if (ask === undefined) return undefined
  for (const bid of ordersOf(state.book, 'buy')) {
    if (!crosses(bid, ask)) return undefined
    const resting = firstCrossing(state, bid)
    if (resting !== undefined) return bid.rank > resting.rank ? bid : resting
  }
  return undefined
}
