import { assert } from '../assert.js'
import type { LiveOrder, PriceQueue } from '../model/live-order.js'
import type { Side } from '../model/order.js'
import type { PriceE18 } from '../money.js'

/** One side of the book: levels from worst to best, so that most insertions and removals are at the array's end. */
interface Ladder {
  readonly levels: PriceQueue[]
  /** 1 when a higher price is better (bids), -1 when a lower one is (asks). */
  readonly direction: 1 | -1
}

/** The orders that can be hit, by price and then by rank. */
export interface Book {
  readonly buy: Ladder
  readonly sell: Ladder
}

export function emptyBook(): Book {
  return { buy: { levels: [], direction: 1 }, sell: { levels: [], direction: -1 } }
}

/** The order that is hit next on a side, undefined when the side is empty. */
export function bestOf(book: Book, side: Side): LiveOrder | undefined {
  const { levels } = book[side]
  return levels[levels.length - 1]?.first
}

/** Index of the level with the price, or of the first better one, where a new level belongs. */
function findLevel(ladder: Ladder, price: PriceE18): number {
  const { levels, direction } = ladder
  let low = 0
  let high = levels.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = levels[middle]?.price ?? 0n
    const worse = direction === 1 ? at < price : at > price
    if (worse) low = middle + 1
    else high = middle
  }
  return low
}

/** Adds an order at its price, in the order of ranks, also in front of later orders. */
export function addToBook(book: Book, live: LiveOrder): void {
  if (live.level !== undefined) assert(false, `order ${live.orderId} is already in the book`)
  const ladder = book[live.side]
  const at = findLevel(ladder, live.limitPrice)
  const found = ladder.levels[at]
  if (found?.price !== live.limitPrice) {
    const level: PriceQueue = { price: live.limitPrice, first: live, last: live }
    insertAt(ladder.levels, at, level)
    live.level = level
    return
  }
  live.level = found
  let before: LiveOrder | undefined = found.last
  while (before !== undefined && before.rank > live.rank) before = before.previous
  linkAfter(found, before, live)
}

function linkAfter(level: PriceQueue, before: LiveOrder | undefined, live: LiveOrder): void {
  const after = before === undefined ? level.first : before.next
  if (before === undefined) level.first = live
  else {
    before.next = live
    live.previous = before
  }
  if (after === undefined) level.last = live
  else {
    after.previous = live
    live.next = after
  }
}

/** Inserts without allocating, unlike splice. Usually few levels are after the place. */
function insertAt(levels: PriceQueue[], at: number, level: PriceQueue): void {
  levels.push(level)
  for (let to = levels.length - 1; to > at; to--) levels[to] = levels[to - 1] as PriceQueue
  levels[at] = level
}

function removeAt(levels: PriceQueue[], at: number): void {
  for (let from = at + 1; from < levels.length; from++)
    levels[from - 1] = levels[from] as PriceQueue
  levels.pop()
}

/** Removes an order from the book, and its level if that becomes empty. */
export function removeFromBook(book: Book, live: LiveOrder): void {
  const { level, previous, next } = live
  if (level === undefined) return assert(false, `order ${live.orderId} is not in the book`)
  if (previous === undefined && next === undefined) {
    const ladder = book[live.side]
    const at = findLevel(ladder, level.price)
    if (ladder.levels[at] !== level) assert(false, `level ${level.price} is not where it belongs`)
    removeAt(ladder.levels, at)
  } else {
    if (previous === undefined) level.first = next as LiveOrder
    else previous.next = next
    if (next === undefined) level.last = previous as LiveOrder
    else next.previous = previous
  }
  live.level = undefined
  live.previous = undefined
  live.next = undefined
}

/** Orders of one side in the order in which they would be hit. */
export function* ordersOf(book: Book, side: Side): Generator<LiveOrder> {
  const { levels } = book[side]
  for (let at = levels.length - 1; at >= 0; at--) {
    for (let live = levels[at]?.first; live !== undefined; live = live.next) yield live
  }
}

/** Levels of one side from the best, or from this one, to the worst. */
export function* levelsOf(book: Book, side: Side, from?: PriceQueue): Generator<PriceQueue> {
  const { levels } = book[side]
  const first = from === undefined ? levels.length - 1 : findLevel(book[side], from.price)
  for (let at = first; at >= 0; at--) yield levels[at] as PriceQueue
}
