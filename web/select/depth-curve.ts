import type { BookRow } from './book-rows.js'
import { toDrawn } from './numbers.js'

/** A corner of the depth, both from 0 to 1: `x` from the lowest price shown to the highest, `y` from nothing to the largest sum. */
export interface Corner {
  readonly x: number
  readonly y: number
}

export interface DepthCurve {
  readonly bids: readonly Corner[]
  readonly asks: readonly Corner[]
  readonly lowE18: bigint
  readonly highE18: bigint
  readonly mostE18: bigint
}

/** The window is this many times as far from the middle as the nearer half of the levels: one far order does not make the rest a slab. */
const WINDOW = 2n

/** Sums from the best price outwards, on a window around the middle that most of the book is in. Undefined without both sides. */
export function depthCurve(
  bids: readonly BookRow[],
  asks: readonly BookRow[],
): DepthCurve | undefined {
  const bid = bids[0]
  const ask = asks[0]
  if (bid === undefined || ask === undefined) return undefined
  const middle = (bid.priceE18 + ask.priceE18) / 2n
  const reach = [...bids, ...asks]
    .map(({ priceE18 }) => (priceE18 > middle ? priceE18 - middle : middle - priceE18))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const half = (reach[Math.floor(reach.length / 2)] ?? 0n) * WINDOW
  if (half === 0n) return undefined
  const lowE18 = middle > half ? middle - half : 0n
  const highE18 = middle + half
  const within = (row: BookRow): boolean => row.priceE18 >= lowE18 && row.priceE18 <= highE18
  const shownBids = bids.filter(within)
  const shownAsks = asks.filter(within)
  const most = [...shownBids, ...shownAsks].reduce(
    (largest, { sumE18 }) => (sumE18 > largest ? sumE18 : largest),
    1n,
  )
  const corner = ({ priceE18, sumE18 }: BookRow): Corner => ({
    x: toDrawn(priceE18 - lowE18) / toDrawn(highE18 - lowE18),
    y: toDrawn(sumE18) / toDrawn(most),
  })
  return {
    bids: shownBids.map(corner),
    asks: shownAsks.map(corner),
    lowE18,
    highE18,
    mostE18: most,
  }
}

/** The area under one side's corners as the path of a drawing of this size. `to` is the far edge of the side. */
export function areaPath(
  corners: readonly Corner[],
  to: 0 | 1,
  [width, height]: readonly [number, number],
): string {
  const [first] = corners
  if (first === undefined) return ''
  const x = (at: number): string => (at * width).toFixed(1)
  const y = (sum: number): string => (height - sum * height).toFixed(1)
  const steps = corners.map(({ x: at, y: sum }, index) => {
    const before = corners[index - 1]?.y ?? 0
    return `L${x(at)} ${y(before)}L${x(at)} ${y(sum)}`
  })
  const last = corners.at(-1)?.y ?? 0
  return `M${x(first.x)} ${height}${steps.join('')}L${x(to)} ${y(last)}L${x(to)} ${height}Z`
}
