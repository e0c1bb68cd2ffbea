import { formatDecimal } from '../../core/decimal.js'
import type { Side } from '../../core/engine/order.js'
import { mulDivCeil, mulDivFloor } from '../../core/money.js'

/** A quote in trader terms, in the units of its market. */
export interface Quote {
  readonly side: Side
  /** In the smallest step of the pricing's decimals. */
  readonly priceUnits: bigint
  readonly price: string
  readonly size: string
}

/** How a market is quoted. */
export interface Pricing {
  /** Decimals of a price in trader terms. */
  readonly decimals: number
  /** Size of the quotes nearest to the reference, in whole units of the market's size. */
  readonly firstSize: bigint
}

/** cNGN per USDC, sizes in USDC. */
export const SPOT_PRICING: Pricing = { decimals: 2, firstSize: 250n }
/** USDC per cNGN, sizes in cNGN. */
export const PERPETUAL_PRICING: Pricing = { decimals: 10, firstSize: 100_000n }

/** Orders of each side, nearest to the reference first. */
export const LEVELS = 4

const LOW_CENTS = 150_000n
const HIGH_CENTS = 165_000n
/** Time from the low price to the high one; the way back takes as long. */
const SWING_MS = 6n * 3_600_000n

const FIRST_DISTANCE_BPS = 20n
const LEVEL_DISTANCE_BPS = 15n
const BPS = 10_000n

/** The synthetic price of a USDC at a time, in cents of cNGN: it moves slowly between two prices. */
export function referenceCents(nowMs: number): bigint {
  const phase = BigInt(nowMs) % (2n * SWING_MS)
  const fromLow = phase < SWING_MS ? phase : 2n * SWING_MS - phase
  return LOW_CENTS + mulDivFloor(HIGH_CENTS - LOW_CENTS, fromLow, SWING_MS)
}

/** The quote of a side and level: bids below the reference, offers above it, so that they cannot match. */
export function quoteAt(pricing: Pricing, reference: bigint, side: Side, level: number): Quote {
  const distance = FIRST_DISTANCE_BPS + LEVEL_DISTANCE_BPS * BigInt(level)
  const priceUnits =
    side === 'buy'
      ? mulDivFloor(reference, BPS - distance, BPS)
      : mulDivCeil(reference, BPS + distance, BPS)
  const size = pricing.firstSize * 2n ** BigInt(level)
  const price = formatDecimal(priceUnits, pricing.decimals)
  return { side, priceUnits, price, size: size.toString() }
}

const MAX_DRIFT_BPS = 10n

/** Whether a quote is too far from its current target. */
export function hasDrifted(quote: Quote, wanted: Quote): boolean {
  const distance = quote.priceUnits - wanted.priceUnits
  return (distance < 0n ? -distance : distance) * BPS > wanted.priceUnits * MAX_DRIFT_BPS
}
