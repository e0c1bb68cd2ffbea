import type { Side } from '../../core/model/order.js'
import { mulDivFloor, E18 } from '../../core/money.js'

/** A position with its prices: size signed (positive is long) in base, prices in quote per base, all at 1e18. */
export interface Position {
  readonly sizeE18: bigint
  readonly entryE18: bigint | undefined
  readonly markE18: bigint | undefined
}

/** Gain since entry in quote, without fees and funding: at the mark, rounded down (a loss up). Undefined without both prices. */
export function gainOf({ sizeE18, entryE18, markE18 }: Position): bigint | undefined {
  if (entryE18 === undefined || markE18 === undefined) return undefined
  return floorSigned((markE18 - entryE18) * sizeE18, E18)
}

/** Gain by the worth at entry, in basis points, rounded down. Undefined without both prices, or for a flat position. */
export function returnBps(position: Position): bigint | undefined {
  const gain = gainOf(position)
  const { sizeE18, entryE18 = 0n } = position
  const worth = mulDivFloor(entryE18, sizeE18 < 0n ? -sizeE18 : sizeE18, E18)
  return gain === undefined || worth === 0n ? undefined : floorSigned(gain * 10_000n, worth)
}

/** What closes a share of it: the side, and whole steps of its size rounded down; the whole leaves nothing that has a step. */
export function closing(
  { sizeE18 }: Pick<Position, 'sizeE18'>,
  percent: bigint,
  stepE18: bigint,
): { readonly side: Side; readonly amountE18: bigint } | undefined {
  const size = sizeE18 < 0n ? -sizeE18 : sizeE18
  const share = mulDivFloor(size, percent, 100n)
  const amountE18 = share - (share % stepE18)
  return amountE18 === 0n ? undefined : { side: sizeE18 > 0n ? 'sell' : 'buy', amountE18 }
}

/** Division rounded toward minus infinity, by a positive divisor. */
function floorSigned(numerator: bigint, divisor: bigint): bigint {
  const quotient = numerator / divisor
  return numerator % divisor < 0n ? quotient - 1n : quotient
}
