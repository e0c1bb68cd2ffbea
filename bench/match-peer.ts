import { Side, type OrderBook } from 'nodejs-order-book'
import { ordersOf, type Book } from '../core/engine/book.js'
import { openAmount } from '../core/model/live-order.js'
import { orderIdOf, toGrid } from './bench-orders.js'
import type { WalkStep } from './walk.js'

/** Steps in the form of nodejs-order-book, prepared before the measurement. */
export type PeerStep =
  | { readonly id: string; readonly side: Side; readonly size: number; readonly price: number }
  | string

export const peerStepsOf = (steps: readonly WalkStep[]): PeerStep[] =>
  steps.map((step) => {
    if (step.kind === 'cancel') return orderIdOf(step.number)
    const { number, side, price, lots } = step.onGrid
    return {
      id: orderIdOf(number),
      side: side === 'buy' ? Side.BUY : Side.SELL,
      size: lots,
      price,
    }
  })

export function playOnPeer(book: OrderBook, steps: readonly PeerStep[]): void {
  for (const step of steps) {
    if (typeof step === 'string') book.cancel(step)
    else book.limit(step)
  }
}

/** Size at each price in units of the walk, asks and bids, each by ascending price. */
export type Depth = readonly (readonly (readonly [price: number, lots: number])[])[]

export function depthOfPeer(book: OrderBook): Depth {
  return book.depth().map((side) => side.toSorted(([a], [b]) => a - b))
}

export function depthOfVenue(book: Book): Depth {
  return (['sell', 'buy'] as const).map((side) => {
    const sizes = new Map<number, number>()
    for (const live of ordersOf(book, side)) {
      const { price, lots } = toGrid(live.order.limitPrice, openAmount(live))
      sizes.set(price, (sizes.get(price) ?? 0) + lots)
    }
    return [...sizes].sort(([a], [b]) => a - b)
  })
}
