import { assert } from '../assert.js'
import { crc32 } from '../crc32.js'
import { formatDecimal } from '../decimal.js'
import type { ChangeBase } from '../model/change.js'
import type { Side } from '../model/order.js'
import { amountE18, type AmountE18, type PriceE18 } from '../money.js'
import type { BookLevels, PriceLevel } from '../records/listing-record.js'
import type { OpenOrder } from '../records/order-record.js'

/** The levels of one side. */
interface SideLevels {
  /** Open amount by price; a price without any is absent. */
  readonly open: Map<PriceE18, AmountE18>
  /** The same prices, the best last: most changes are near the best, where an insertion moves few. */
  readonly prices: PriceE18[]
}

/** The book added up by price, kept up to date change by change. */
export type LevelBook = Readonly<Record<Side, SideLevels>>

/** What a change did to its level. */
export type LevelChange = Pick<ChangeBase, 'side' | 'limitPrice' | 'openDelta'>

const isBetter = (side: Side, a: PriceE18, b: PriceE18): boolean => (side === 'buy' ? a > b : a < b)
const byPrice =
  (side: Side) =>
  (a: PriceE18, b: PriceE18): number =>
    a === b ? 0 : isBetter(side, a, b) ? -1 : 1

/** The levels of these orders. */
export function levelBookOf(orders: Iterable<OpenOrder>): LevelBook {
  const sides: Record<Side, Map<PriceE18, AmountE18>> = { buy: new Map(), sell: new Map() }
  for (const { order, progress } of orders) {
    const open = sides[order.side]
    open.set(order.limitPrice, amountE18((open.get(order.limitPrice) ?? 0n) + progress.open))
  }
  const sideOf = (side: Side): SideLevels => ({
    open: sides[side],
    prices: [...sides[side].keys()].sort(byPrice(side)).reverse(),
  })
  return { buy: sideOf('buy'), sell: sideOf('sell') }
}

/** Folds a change into its level. A level below zero is a broken invariant. */
export function moveLevel(book: LevelBook, { side, limitPrice, openDelta }: LevelChange): void {
  if (openDelta === 0n) return
  const { open, prices } = book[side]
  const before = open.get(limitPrice)
  const after = amountE18((before ?? 0n) + openDelta)
  if (after < 0n) assert(false, `the level ${limitPrice} of ${side} has ${after} open`)
  if (after === 0n) {
    open.delete(limitPrice)
    prices.splice(placeOf(side, prices, limitPrice), 1)
  } else {
    open.set(limitPrice, after)
    if (before === undefined) prices.splice(placeOf(side, prices, limitPrice), 0, limitPrice)
  }
}

/** Where the price stands, or would stand, among prices of which the best is last. */
function placeOf(side: Side, prices: readonly PriceE18[], price: PriceE18): number {
  let low = 0
  let high = prices.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBetter(side, price, prices[middle] as PriceE18)) low = middle + 1
    else high = middle
  }
  return low
}

/** The best `depth` levels of each side, best first. */
export function bestLevels(book: LevelBook, depth: number): BookLevels {
  return { bids: bestOf(book.buy, depth), asks: bestOf(book.sell, depth) }
}

function bestOf({ open, prices }: SideLevels, depth: number): PriceLevel[] {
  const best: PriceLevel[] = []
  for (let at = prices.length - 1; at >= 0 && best.length < depth; at -= 1) {
    const price = prices[at] as PriceE18
    best.push({ price, open: open.get(price) as AmountE18 })
  }
  return best
}

/** The same as they were before these changes, which are the newest of the book. */
export function bestLevelsBefore(
  book: LevelBook,
  changes: Iterable<LevelChange>,
  depth: number,
): BookLevels {
  const moved: Record<Side, Map<PriceE18, bigint>> = { buy: new Map(), sell: new Map() }
  for (const { side, limitPrice, openDelta } of changes) {
    moved[side].set(limitPrice, (moved[side].get(limitPrice) ?? 0n) + openDelta)
  }
  const side = (name: Side): PriceLevel[] => {
    const unmoved = bestOf(book[name], depth + moved[name].size).filter(
      ({ price }) => !moved[name].has(price),
    )
    const earlier = [...moved[name]].map(([price, delta]) => ({
      price,
      open: amountE18((book[name].open.get(price) ?? 0n) - delta),
    }))
    return [...unmoved, ...earlier.filter(({ open }) => open > 0n)]
      .sort((a, b) => byPrice(name)(a.price, b.price))
      .slice(0, depth)
  }
  return { bids: side('buy'), asks: side('sell') }
}

/** What makes `after` of `before`: the levels that differ, with nothing open where `after` has none. */
export function levelsThatDiffer(before: BookLevels, after: BookLevels): BookLevels {
  return { bids: differing(before.bids, after.bids), asks: differing(before.asks, after.asks) }
}

const NOTHING = amountE18(0n)

function differing(before: readonly PriceLevel[], after: readonly PriceLevel[]): PriceLevel[] {
  const known = new Map(before.map(({ price, open }) => [price, open]))
  const changed: PriceLevel[] = []
  for (const level of after) {
    if (known.get(level.price) !== level.open) changed.push(level)
    known.delete(level.price)
  }
  for (const price of known.keys()) changed.push({ price, open: NOTHING })
  return changed
}

/** Levels of each side that the checksum covers. */
export const CHECKSUM_LEVELS = 10

/** CRC-32 of the best ten bids and then the best ten asks as `price:size` in engine units, joined by commas. */
export function checksumOf(levels: BookLevels): number {
  const texts = [levels.bids, levels.asks].flatMap((side) =>
    side
      .slice(0, CHECKSUM_LEVELS)
      .map(({ price, open }) => `${formatDecimal(price, 18)}:${formatDecimal(open, 18)}`),
  )
  return crc32(texts.join())
}
