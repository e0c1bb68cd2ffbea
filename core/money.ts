/**
 * Every amount in the venue is a bigint that carries its scale in its type. A type whose name ends in E18 counts
 * units of 1e-18 (the scale of the chain's accounts), one that ends in 6 counts the token's own 1e-6 units.
 */
declare const scale: unique symbol
type ScaledAmount<Name extends string> = bigint & { readonly [scale]: Name }

/** Quote per 1.0 base at 1e18: USDC per cNGN on the spot market and the perp, cNGN per USDC on a future. */
export type PriceE18 = ScaledAmount<'PriceE18'>
/** Base amount at 1e18: whole cNGN on spot and perp. */
export type AmountE18 = ScaledAmount<'AmountE18'>
/** Quote amount at 1e18. */
export type QuoteE18 = ScaledAmount<'QuoteE18'>
/** Fee per 1.0 base filled, in quote at 1e18: the unit of the signed worstFee. */
export type FeePerUnitE18 = ScaledAmount<'FeePerUnitE18'>
/** An amount of a token that has 6 decimals (USDC, cNGN), in the token's own units. */
export type TokenUnits6 = ScaledAmount<'TokenUnits6'>

export const E18 = 10n ** 18n
/** Units of 1e-18 in one token unit of 1e-6: what the chain's accounts credit for it. */
const E18_PER_UNIT_6 = 10n ** 12n

export const priceE18 = (value: bigint): PriceE18 => value as PriceE18
export const amountE18 = (value: bigint): AmountE18 => value as AmountE18
export const quoteE18 = (value: bigint): QuoteE18 => value as QuoteE18
export const feePerUnitE18 = (value: bigint): FeePerUnitE18 => value as FeePerUnitE18
export const tokenUnits6 = (value: bigint): TokenUnits6 => value as TokenUnits6

/** Token units at the scale of the chain's accounts; exact. */
export const unitsToE18 = (units: TokenUnits6): AmountE18 => (units * E18_PER_UNIT_6) as AmountE18

/** a × b / divisor rounded toward zero; for operands that are not negative that is down. */
export function mulDivFloor(a: bigint, b: bigint, divisor: bigint): bigint {
  return (a * b) / divisor
}

/** a × b / divisor rounded up, for operands that are not negative. */
export function mulDivCeil(a: bigint, b: bigint, divisor: bigint): bigint {
  return (a * b + divisor - 1n) / divisor
}

/** The least multiple of `step` that is not below the value; for a value that is not negative and a step above zero. */
export const roundedUp = (value: bigint, step: bigint): bigint => mulDivCeil(value, 1n, step) * step
