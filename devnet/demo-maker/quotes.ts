import { formatDecimal } from '../../core/decimal.js'
import { mulDivCeil, mulDivFloor } from '../../core/money.js'
import type { Side } from '../../core/order.js'

/** A price the maker wants to show, in trader terms: the side of USDC, cNGN per USDC, USDC. */
export interface Quote {
  readonly side: Side
  /** In hundredths of a cNGN per USDC. */
  readonly priceCents: bigint
  readonly price: string
  readonly size: string
}

/** Orders of each side, nearest to the reference first. */
export const LEVELS = 4

const LOW_CENTS = 150_000n
const HIGH_CENTS = 165_000n
/** From the low price to the high one; the way back takes as long. */
const SWING_MS = 6n * 3_600_000n

const FIRST_DISTANCE_BPS = 20n
const LEVEL_DISTANCE_BPS = 15n
const FIRST_SIZE_USDC = 250n
const BPS = 10_000n

/** The made-up value of a USDC at a time, in cents of cNGN: it wanders slowly between two prices. */
export function referenceCents(nowMs: number): bigint {
  const phase = BigInt(nowMs) % (2n * SWING_MS)
  const fromLow = phase < SWING_MS ? phase : 2n * SWING_MS - phase
  return LOW_CENTS + mulDivFloor(HIGH_CENTS - LOW_CENTS, fromLow, SWING_MS)
}

/** The quote of a side and level: bids below the reference, offers above it, so that they cannot meet. */
export function quoteAt(reference: bigint, side: Side, level: number): Quote {
  const distance = FIRST_DISTANCE_BPS + LEVEL_DISTANCE_BPS * BigInt(level)
  const priceCents =
    side === 'buy'
      ? mulDivFloor(reference, BPS - distance, BPS)
      : mulDivCeil(reference, BPS + distance, BPS)
  const size = FIRST_SIZE_USDC * 2n ** BigInt(level)
  return { side, priceCents, price: formatDecimal(priceCents, 2), size: size.toString() }
}

const MAX_DRIFT_BPS = 10n

/** Whether a quote is too far from what would be quoted now. */
export function hasDrifted(quote: Quote, wanted: Quote): boolean {
  const distance = quote.priceCents - wanted.priceCents
  return (distance < 0n ? -distance : distance) * BPS > wanted.priceCents * MAX_DRIFT_BPS
}
