import { formatDecimal } from '../../core/decimal.js'
import type { Side } from '../../core/model/order.js'
import { mulDivCeil, mulDivFloor } from '../../core/money.js'

/** An order to be placed, in trader terms and in the units of its market. */
export interface Quote {
  readonly side: Side
  /** In the smallest step of the pricing's decimals. */
  readonly priceUnits: bigint
  readonly price: string
  readonly size: string
}

/** Prices and sizes in which a market is quoted. */
export interface Grid {
  /** Decimals of a price in trader terms; the smallest step of them is a unit. */
  readonly decimals: number
  /** Size of the quotes nearest to the reference, in whole units of the market's size. */
  readonly firstSize: bigint
  /** What orders that take quotes are multiples of; it divides the first size. */
  readonly lot: bigint
}

/** What a market is quoted around. */
export interface QuoteCentre {
  /** In units. */
  readonly price: bigint
  /** Prices between which quotes are allowed, bounds included; absent where every price is. */
  readonly low?: bigint
  readonly high?: bigint
}

/** Orders of each side, nearest to the reference first. */
export const LEVELS = 5

const FIRST_DISTANCE_BPS = 8n
const LEVEL_DISTANCE_BPS = 8n
/** How much beyond a quote's price an order that takes it may go. */
const THROUGH_BPS = 4n
const BPS = 10_000n

/**
 * The quote of a side and level: bids below the reference, offers above it, so that they cannot match. Undefined where its
 * price is not allowed.
 */
export function quoteAt(
  grid: Grid,
  around: QuoteCentre,
  side: Side,
  level: number,
): Quote | undefined {
  const distance = FIRST_DISTANCE_BPS + LEVEL_DISTANCE_BPS * BigInt(level)
  const priceUnits =
    side === 'buy'
      ? mulDivFloor(around.price, BPS - distance, BPS)
      : mulDivCeil(around.price, BPS + distance, BPS)
  return isAllowed(around, priceUnits)
    ? quoteOf(grid, side, priceUnits, grid.firstSize * 2n ** BigInt(level))
    : undefined
}

/** The order of the opposite side that takes so much of a quote; undefined where its price is not allowed. */
export function takerOf(
  grid: Grid,
  around: QuoteCentre,
  quote: Quote,
  size: bigint,
): Quote | undefined {
  const through = quote.side === 'sell' ? BPS + THROUGH_BPS : BPS - THROUGH_BPS
  const priceUnits = mulDivFloor(quote.priceUnits, through, BPS)
  if (!isAllowed(around, priceUnits)) return undefined
  return quoteOf(grid, quote.side === 'sell' ? 'buy' : 'sell', priceUnits, size)
}

const isAllowed = ({ low, high }: QuoteCentre, price: bigint): boolean =>
  price > 0n && (low === undefined || price >= low) && (high === undefined || price <= high)

function quoteOf({ decimals }: Grid, side: Side, priceUnits: bigint, size: bigint): Quote {
  return { side, priceUnits, price: formatDecimal(priceUnits, decimals), size: size.toString() }
}

const MAX_DRIFT_BPS = 6n

/** Whether a quote is too far from its current target. */
export function hasDrifted(quote: Quote, wanted: Quote): boolean {
  const distance = quote.priceUnits - wanted.priceUnits
  return (distance < 0n ? -distance : distance) * BPS > wanted.priceUnits * MAX_DRIFT_BPS
}
