import { divHalfUp, formatDecimal } from '../decimal.js'
import { mulDivCeil, mulDivFloor, type PriceE18 } from '../money.js'

/**
 * Numbers at the precision of a listing: prices have ten decimals and amounts of USDC six, as the token. A number that this
 * would make 0 keeps as many decimals as it takes, so that every order and trade of the venue is a valid one there.
 */

export type Rounding = 'down' | 'up' | 'half up'

const PRICE_DECIMALS = 10
const VOLUME_DECIMALS = 6
/** A product of two numbers at 1e18. */
const PRODUCT_DECIMALS = 36

const divide: Readonly<Record<Rounding, (numerator: bigint, by: bigint) => bigint>> = {
  down: (numerator, by) => mulDivFloor(numerator, 1n, by),
  up: (numerator, by) => mulDivCeil(numerator, 1n, by),
  'half up': divHalfUp,
}

/** 1 / price in decimal text, more than 0; the price is at 1e18, and at least one unit. */
export function inversePrice(price: PriceE18, rounding: Rounding): string {
  const inverse = (decimals: number): bigint =>
    divide[rounding](10n ** BigInt(18 + decimals), price)
  const listed = inverse(PRICE_DECIMALS)
  if (listed > 0n) return formatDecimal(listed, PRICE_DECIMALS)
  // With one more decimal than the price has digits, no inverse rounds to 0.
  const decimals = price.toString().length
  return formatDecimal(inverse(decimals), decimals)
}

/** An amount of USDC at 1e36, the product of a price and an amount, in decimal text; 0 only if it is 0. */
export function listedVolume(productE36: bigint, rounding: Exclude<Rounding, 'up'>): string {
  const toListed = 10n ** BigInt(PRODUCT_DECIMALS - VOLUME_DECIMALS)
  const listed = divide[rounding](productE36, toListed)
  return listed > 0n
    ? formatDecimal(listed, VOLUME_DECIMALS)
    : formatDecimal(productE36, PRODUCT_DECIMALS)
}
