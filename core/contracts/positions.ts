import type { CancelReason } from '../../interface/reasons.js'
import { divHalfUp } from '../decimal.js'
import { marketRefusals } from '../entry/market-refusals.js'
import type { Refusal } from '../entry/refusals.js'
import type { LiveOrder } from '../model/live-order.js'
import type { Order, Side } from '../model/order.js'
import { amountE18, E18, type AmountE18, type PriceE18 } from '../money.js'
import type { CrossingPair, PairVerdict, PositionEntry } from './contract.js'
import { expectedPosition, isInFlight, reducible } from './margin-risk.js'
import { sizeOf } from './perpetual-margin.js'

/** What contract types with positions have in common: reduce-only orders and the cap of all positions. */

/** Sizes at the scale of the market's amounts. */
export interface PositionCap {
  /** Sum of the sizes of all positions, long and short. */
  readonly total: bigint
  readonly cap: bigint
}

/** Clamps to what reduce-only orders may reduce, and keeps the positions below their cap (PER-032, PER-036). */
export function pairPositions(
  { incoming, resting, amount, awaiting }: CrossingPair,
  positions: PositionCap | undefined,
): PairVerdict {
  let fits = amount
  for (const order of [incoming, resting]) {
    if (order.order.reduceOnly !== true) continue
    const left = reducible(order.account.riskAccount, order)
    if (left === undefined || left === 0n) return asideOf(order)
    if (left < fits) fits = amountE18(left)
  }
  if (positions === undefined) return { amount: fits }
  const raised = raisedBy(incoming, fits) + raisedBy(resting, fits)
  // A match in flight raises the total by twice its amount at most.
  const total = positions.total + 2n * awaiting
  if (raised <= 0n || total + raised <= positions.cap) return { amount: fits }
  return { aside: incoming, hold: { reason: 'open_interest_cap', needed: fits } }
}

/** A reduce-only order with nothing to reduce: it waits while a match of its side may still fail. */
function asideOf(order: LiveOrder): PairVerdict {
  const over = endOfReduceOnly(order)
  if (over !== undefined) return { aside: order, cancelReason: over }
  return { aside: order, hold: { reason: 'reduce_only' } }
}

/** `cancel_reason` of a reduce-only order with nothing left to reduce, and nothing that may come back. */
export function endOfReduceOnly(order: LiveOrder): CancelReason | undefined {
  if (order.order.reduceOnly !== true) return undefined
  const { riskAccount } = order.account
  const isSpent = reducible(riskAccount, order) === 0n && !isInFlight(riskAccount, order)
  return isSpent ? 'reduce_only_no_position' : undefined
}

/** How a match changes the size of the order's position, with all that its account has in flight. */
function raisedBy({ side, account }: LiveOrder, amount: AmountE18): bigint {
  const position = expectedPosition(account.riskAccount)
  return sizeOf(position + (side === 'buy' ? amount : 0n - amount)) - sizeOf(position)
}

/** Refuses a reduce-only order of an account whose position it would not reduce; undefined: the position is not known. */
export function refuseReduceOnly(
  { side, reduceOnly }: Pick<Order, 'side' | 'reduceOnly'>,
  position: bigint | undefined,
): Refusal | undefined {
  if (reduceOnly !== true) return undefined
  if (position === undefined) return marketRefusals.positionUnreadable
  if (position === 0n) return marketRefusals.reduceOnlyFlat
  return position > 0n === (side === 'buy') ? marketRefusals.reduceOnlySameSide : undefined
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
