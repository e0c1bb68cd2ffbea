import { E18, mulDivCeil, mulDivFloor, priceE18, type PriceE18 } from '../money.js'

/**
 * The prices of a dated future as its contracts compute them, equal to the last unit: fill band, mark, fixing and
 * fallback. All prices are cNGN per USDC at 1e18, all times unix seconds.
 */

const WIDE = 100_000_000_000_000_000n
const NARROW = 10_000_000_000_000_000n
const NARROWING_SEC = 14 * 86_400
/** Trading ends this long before expiry, and the fixing begins. */
export const FIXING_SEC = 3_600
/** The longest time that one sample of the fixing may stand for. */
const FIXING_GAP_MAX_SEC = 300
/** Between two moves of a mark. */
export const MARK_INTERVAL_SEC = 3_600

/** Prices at which fills are allowed, bounds included. */
export interface FillBand {
  /** Half the width as a fraction of the index, at 1e18. */
  readonly widthE18: bigint
  readonly low: PriceE18
  readonly high: PriceE18
}

/** Width of the band so many seconds before expiry; rounded down. */
export function bandWidth(leftSec: number): bigint {
  if (leftSec >= NARROWING_SEC) return WIDE
  const left = BigInt(Math.max(leftSec, 0))
  return NARROW + mulDivFloor(WIDE - NARROW, left, BigInt(NARROWING_SEC))
}

/** The band of a series at a time, rounded inwards. */
export function fillBand(index: PriceE18, expirySec: number, atSec: number): FillBand {
  const widthE18 = bandWidth(expirySec - atSec)
  return {
    widthE18,
    low: priceE18(mulDivCeil(index, E18 - widthE18, E18)),
    high: priceE18(mulDivFloor(index, E18 + widthE18, E18)),
  }
}

export const isInBand = ({ low, high }: FillBand, price: PriceE18): boolean =>
  price >= low && price <= high

/** A mark with the time at which it was set. */
export interface TimedMark {
  readonly price: PriceE18
  readonly atSec: number
}

/** The error with which the asset refuses a new mark. */
export type MarkRefusal =
  'FA_SeriesExpired' | 'FA_MarkTooSoon' | 'FA_MarkMoveTooLarge' | 'FA_MarkOutsideBand'

/** Why the asset refuses to move a mark, given a fresh index; undefined when it accepts. */
export function refusalOfMark(
  last: TimedMark,
  next: TimedMark,
  { index, expirySec }: { readonly index: PriceE18; readonly expirySec: number },
): MarkRefusal | undefined {
  if (next.atSec >= expirySec) return 'FA_SeriesExpired'
  if (next.atSec < last.atSec + MARK_INTERVAL_SEC) return 'FA_MarkTooSoon'
  if (distance(next.price, last.price) * 20n > last.price) return 'FA_MarkMoveTooLarge'
  if (!isInBand(fillBand(index, expirySec, next.atSec), next.price)) return 'FA_MarkOutsideBand'
  return undefined
}

/** The legal mark nearest to a target; undefined when the band lies beyond one move of 5 %. */
export function markTowards(
  last: PriceE18,
  target: PriceE18,
  band: FillBand,
): PriceE18 | undefined {
  const lowest = max(mulDivCeil(last, 19n, 20n), band.low)
  const highest = min(mulDivFloor(last, 21n, 20n), band.high)
  if (lowest > highest) return undefined
  return priceE18(min(max(target, lowest), highest))
}

/** A price of the index with the time that its feed states. */
export interface IndexPrice {
  readonly price: PriceE18
  readonly atSec: number
}

/** The time-weighted index over the hour before expiry, as far as samples cover it. */
export interface FixingAverage {
  readonly last: IndexPrice | undefined
  /** Sum of price × seconds. */
  readonly priceSeconds: bigint
  readonly coveredSec: number
  readonly largestGapSec: number
}

export const NO_FIXING: FixingAverage = {
  last: undefined,
  priceSeconds: 0n,
  coveredSec: 0,
  largestGapSec: 0,
}

/** The fixing with one more sample; undefined for a sample that is not newer than the last or is after expiry. */
export function withSample(
  fixing: FixingAverage,
  expirySec: number,
  sample: IndexPrice,
): FixingAverage | undefined {
  if (sample.atSec > expirySec || sample.atSec <= (fixing.last?.atSec ?? 0)) return undefined
  return { ...extended(fixing, expirySec, sample.atSec), last: sample }
}

/** The newest sample stands until `toSec`. A sample too long before the hour does not open it. */
function extended(fixing: FixingAverage, expirySec: number, toSec: number): FixingAverage {
  const startSec = expirySec - FIXING_SEC
  if (toSec <= startSec) return fixing
  const { last, largestGapSec } = fixing
  const gapSec = toSec - Math.max(last?.atSec ?? 0, startSec)
  const next = { ...fixing, largestGapSec: Math.max(largestGapSec, gapSec) }
  if (last === undefined || last.atSec + FIXING_GAP_MAX_SEC < startSec) return next
  return {
    ...next,
    priceSeconds: fixing.priceSeconds + last.price * BigInt(gapSec),
    coveredSec: fixing.coveredSec + gapSec,
  }
}

/** What a fixing gives at expiry. */
export interface FixingResult {
  /** Every part of the hour has a sample near enough: the average becomes the settlement price. */
  readonly isComplete: boolean
  /** Rounded down; undefined without a sample in or right before the hour. */
  readonly average: PriceE18 | undefined
}

/** The fixing as it is if no further sample comes. */
export function fixingAtExpiry(fixing: FixingAverage, expirySec: number): FixingResult {
  const { priceSeconds, coveredSec, largestGapSec } = extended(fixing, expirySec, expirySec)
  if (coveredSec === 0) return { isComplete: false, average: undefined }
  return {
    isComplete: largestGapSec <= FIXING_GAP_MAX_SEC,
    average: priceE18(priceSeconds / BigInt(coveredSec)),
  }
}

/** Whether the owner may settle an incomplete fixing at this price: within 2 % of its average, else of the last mark. */
export function isFallbackInRange(price: PriceE18, { average }: FixingResult, mark: PriceE18) {
  const reference = average ?? mark
  return distance(price, reference) * 50n <= reference
}

const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
