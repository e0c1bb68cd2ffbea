import { divHalfUp } from '../decimal.js'
import type { Side } from '../engine/order.js'
import { E18, type AmountE18, type PriceE18 } from '../money.js'

/** The position that the venue's own fills of an account in one market add up to. */
export interface PositionEntry {
  /** Signed, at 1e18: positive is long. */
  readonly size: bigint
  /**
   * Σ price × size of what is open, with the sign of the size, at 1e36. A reduction takes its share of it, truncated
   * toward zero. Undefined after a reversed fill, until the position is flat again.
   */
  readonly cost: bigint | undefined
}

/** A fill as it moves a position. */
export interface PositionMove {
  readonly side: Side
  readonly price: PriceE18
  readonly amount: AmountE18
}

export const NO_ENTRY: PositionEntry = { size: 0n, cost: 0n }

const signedSize = ({ side, amount }: PositionMove): bigint =>
  side === 'buy' ? amount : 0n - amount

/** The position after one more fill. What crosses zero opens a new position at the price of the fill. */
export function afterFill({ size, cost }: PositionEntry, fill: PositionMove): PositionEntry {
  const moved = signedSize(fill)
  const after = size + moved
  if (after === 0n) return NO_ENTRY
  const grows = size > 0n === moved > 0n || size === 0n
  if (grows)
    return { size: after, cost: cost === undefined ? undefined : cost + moved * fill.price }
  const crosses = after > 0n !== size > 0n
  if (crosses) return { size: after, cost: after * fill.price }
  return { size: after, cost: cost === undefined ? undefined : (cost * after) / size }
}

/** The position without a fill that the chain has lost: its entry is not known until it is flat. */
export function afterReversal({ size }: PositionEntry, fill: PositionMove): PositionEntry {
  const after = size - signedSize(fill)
  return after === 0n ? NO_ENTRY : { size: after, cost: undefined }
}

/** The average price at which the position was opened, at 1e18, half up; undefined when it is not known. */
export function entryPrice({ size, cost }: PositionEntry): bigint | undefined {
  if (size === 0n || cost === undefined) return undefined
  return size < 0n ? divHalfUp(0n - cost, 0n - size) : divHalfUp(cost, size)
}

/** What the position has gained at a mark since its entry, in quote at 1e18, truncated toward zero. */
export function gainSinceEntry({ size, cost }: PositionEntry, mark: PriceE18): bigint | undefined {
  return size === 0n || cost === undefined ? undefined : (mark * size - cost) / E18
}
