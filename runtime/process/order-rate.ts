import type { Address } from '../../core/action.js'
import { marketRefusals } from '../../core/entry/market-refusals.js'
import { changeRefusals, controlRefusals } from '../../core/entry/order-refusals.js'
import type { Refusal } from '../../core/entry/refusals.js'

/**
 * How many orders an owner may send to this process: a bucket that fills with `perSec` messages a second and holds those of
 * BURST_SEC seconds. An order counts once its answer shows that the owner signed it, so that no other client can empty an
 * owner's bucket; what is in flight is not counted yet. Cancels never count.
 */
export interface OrderRate {
  /** Orders that an owner may send in a second, for any length of time. */
  readonly perSec: number
  /** What is left to the owner now. */
  look(owner: string): RateLeft
  /** Counts one message of the owner. */
  count(owner: string): RateLeft
}

/** What is left to an owner. */
export interface RateLeft {
  readonly limit: number
  /** Whole messages. */
  readonly remaining: number
  /** Seconds until the bucket is full again, rounded up. */
  readonly resetSec: number
  /** Seconds until one more is left, rounded up; 0 while one is. */
  readonly nextSec: number
}

const BURST_SEC = 10
/** Owners whose buckets are not full; beyond it the one that sent least lately is forgotten, as if its bucket were full. */
const OWNERS_MAX = 100_000

export interface OrderRateOptions {
  /** Messages a second; 0: there is no limit. */
  readonly perSec: number
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/** Undefined where there is no limit. */
export function createOrderRate({
  perSec,
  elapsedMs = () => performance.now(),
}: OrderRateOptions): OrderRate | undefined {
  if (perSec === 0) return undefined
  const limit = perSec * BURST_SEC
  /** When the bucket of an owner will be full. */
  const fullAtMs = new Map<string, number>()
  const left = (fullAt: number): RateLeft => {
    const missingMs = Math.max(0, fullAt - elapsedMs())
    const remaining = Math.max(0, Math.floor(limit - (missingMs * perSec) / 1000))
    const nextMs = Math.max(0, missingMs - ((limit - 1) * 1000) / perSec)
    const resetSec = Math.ceil(missingMs / 1000)
    const nextSec = Math.ceil(nextMs / 1000)
    return { limit, remaining, resetSec, nextSec }
  }
  return {
    perSec,
    look: (owner) => left(fullAtMs.get(owner) ?? 0),
    count(owner) {
      const before = Math.max(fullAtMs.get(owner) ?? 0, elapsedMs())
      const fullAt = before + 1000 / perSec
      fullAtMs.delete(owner)
      fullAtMs.set(owner, fullAt)
      if (fullAtMs.size > OWNERS_MAX) {
        for (const oldest of fullAtMs.keys()) {
          fullAtMs.delete(oldest)
          break
        }
      }
      return left(fullAt)
    },
  }
}

/** Refusals that only an order with a valid signature gets, and no repeat of an earlier one, which is public. */
const SIGNED: ReadonlySet<string> = new Set([
  controlRefusals.postOnlyWouldCross.code,
  controlRefusals.openOrderLimit.code,
  changeRefusals.replacementDiffers.code,
  changeRefusals.replacementTooSmall.code,
  changeRefusals.replacementEnds.code,
  marketRefusals.insufficientMargin.code,
  marketRefusals.reduceOnlyFlat.code,
  marketRefusals.reduceOnlySameSide.code,
  marketRefusals.marginUnreadable.code,
])

/** An order that was admitted; `answered` is told the refusal with which it was answered, undefined for an order. */
export interface AdmittedOrder {
  /** What is left to its owner; undefined for an order that does not count. */
  readonly answered: (refusal: Refusal | undefined) => RateLeft | undefined
}

/** Admits an order of an owner, unless nothing is left. `ahead` orders of the owner are not answered yet. */
export function admitOrderOf(
  rate: OrderRate,
  owner: Address,
  ahead: number,
): AdmittedOrder | { readonly left: RateLeft } {
  const left = rate.look(owner)
  if (left.remaining <= ahead) return { left }
  return {
    answered(refusal) {
      const isOfOwner = refusal === undefined || SIGNED.has(refusal.code)
      return isOfOwner ? rate.count(owner) : undefined
    },
  }
}
