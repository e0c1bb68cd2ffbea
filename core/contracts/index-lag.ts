import type { IndexLagState } from '../../interface/perpetual.js'
import { formatDecimal } from '../decimal.js'
import { badRequest, type Refusal } from '../entry/refusals.js'
import type { PriceE18 } from '../money.js'

/** New orders of a perpetual while its index on the chain is away from the price outside of it (PER-016, PER-017). */

/** How far the index may be away. */
export interface IndexLagLimit {
  /** While false, the lag is shown and refuses nothing. */
  readonly enforced: boolean
  readonly maxBps: number
  /** An older sample counts as none. */
  readonly maxAgeMs: number
}

/** The price outside, as it was last reported. */
export interface IndexSample {
  /** Unix milliseconds at which it was taken. */
  readonly atMs: number
  readonly usdcPerCngn: PriceE18
  /** False: its source calls it unusable, and it counts as none. */
  readonly isOk: boolean
}

export interface IndexWatch {
  readonly gate: IndexLagLimit
  /** Absent until one is reported. */
  readonly sample?: IndexSample
}

/** A limit with its sample at one moment. */
export interface IndexLag extends Pick<IndexLagLimit, 'enforced' | 'maxBps'> {
  readonly sample?: IndexSample & {
    readonly ageMs: number
    readonly isFresh: boolean
  }
}

export function indexLagAt({ gate, sample }: IndexWatch, nowMs: number): IndexLag {
  const { enforced, maxBps, maxAgeMs } = gate
  if (sample === undefined) return { enforced, maxBps }
  // A reporter's clock may be ahead.
  const ageMs = Math.max(0, nowMs - sample.atMs)
  const isFresh = sample.isOk && ageMs <= maxAgeMs
  return { enforced, maxBps, sample: { ...sample, ageMs, isFresh } }
}

const BPS = 10_000n

/** (sample − index) / index in basis points, truncated; undefined without a fresh sample or without an index. */
export function lagBps({ sample }: IndexLag, index: PriceE18): bigint | undefined {
  if (sample?.isFresh !== true || index === 0n) return undefined
  return ((sample.usdcPerCngn - index) * BPS) / index
}

/**
 * Refuses while an enforced limit has no fresh sample, or one too far from the index. Without an index there is nothing to
 * compare: the market is held then.
 */
export function refuseIndexLag(lag: IndexLag | undefined, index: PriceE18): Refusal | undefined {
  if (lag?.enforced !== true) return undefined
  if (lag.sample?.isFresh !== true) {
    return indexLagRefusal('there is no fresh sample of the index', noFreshSample(lag))
  }
  const bps = lagBps(lag, index)
  const magnitude = bps === undefined || bps >= 0n ? bps : -bps
  if (magnitude === undefined || magnitude <= BigInt(lag.maxBps)) return undefined
  const message = `the index is ${bps} bps from its sample, more than ${lag.maxBps}`
  return indexLagRefusal(message, { lag_bps: Number(bps), max_bps: lag.maxBps })
}

/** The same fields as with a sample, as far as there are any. */
const noFreshSample = ({ maxBps, sample }: IndexLag) => ({
  max_bps: maxBps,
  ...(sample !== undefined && {
    sample_ok: sample.isOk,
    sample_age_sec: Math.floor(sample.ageMs / 1000),
  }),
})

/** New orders are refused until the index and its sample agree again. */
export const indexLagRefusal = (why: string, detail: Readonly<Record<string, unknown>>): Refusal =>
  badRequest('index_lag', 'index_lag', {
    detail,
    extra: { message: `no new orders are taken: ${why}` },
  })

/** `index_lag` of the perp object. */
export function indexLagEntry(lag: IndexLag, index: PriceE18): IndexLagState {
  const { enforced, maxBps, sample } = lag
  const bps = lagBps(lag, index)
  return {
    enforced,
    max_bps: maxBps,
    ...(bps !== undefined && { lag_bps: Number(bps) }),
    ...(sample !== undefined && {
      spot_sample_at: Math.floor(sample.atMs / 1000),
      spot_usdc_per_cngn: formatDecimal(sample.usdcPerCngn, 18),
      sample_age_sec: Math.floor(sample.ageMs / 1000),
    }),
  }
}
