import type { FundingRecord, SettledLeg } from '../../client/index.js'
import { E18 } from '../../core/money.js'
import { readOrZero } from './numbers.js'

/** An hour of a perpetual for which its position paid or received funding. */
export interface FundingPayment {
  /** When it began, as the funding record says. */
  readonly at: string
  /** The position at its end: signed at 1e18, in base. */
  readonly sizeE18: bigint
  readonly rate: string
  /** USDC at 1e18: positive when received. */
  readonly receivedE18: bigint
}

export interface FundedPosition {
  /** Newest first, as the venue lists them. */
  readonly hours: readonly FundingRecord[]
  /** Settled fills of one's own in the market. */
  readonly fills: readonly Pick<SettledLeg, 'created_at' | 'side' | 'size'>[]
  /** The position now: signed at 1e18, in base. */
  readonly sizeE18: bigint
  /** Fills before are not known, nor what the position was then: Unix milliseconds. */
  readonly knownFromMs: number
  /** By the venue's clock: Unix milliseconds. */
  readonly nowMs: number
}

const HOUR_MS = 3_600_000

/**
 * What a position has paid and received, hour by hour, newest first, without the hours in which there was none. It is worked out of the
 * rate and index at the beginning of each hour, and of the position as it was by the fills; each sum is rounded
 * towards zero. The chain counts with the rates of every moment, and also what moved a position without a fill.
 */
export function fundingPayments({
  hours,
  fills,
  sizeE18,
  knownFromMs,
  nowMs,
}: FundedPosition): readonly FundingPayment[] {
  const changes = fills
    .map(({ created_at: at, side, size }) => ({
      atMs: Date.parse(at),
      deltaE18: side === 'buy' ? readOrZero(size) : -readOrZero(size),
    }))
    .sort((a, b) => b.atMs - a.atMs)
  const payments: FundingPayment[] = []
  let next = 0
  let heldE18 = sizeE18
  let endMs = nowMs
  for (const hour of hours) {
    const fromMs = Date.parse(hour.observed_at)
    if (fromMs < knownFromMs) break
    // What changed after the hour's end, where hours are missing, changed the position before it alone.
    // The chain's clock may be ahead of the venue's: of an hour that has not begun nothing is counted.
    const untilMs = Math.max(fromMs, Math.min(endMs, fromMs + HOUR_MS))
    for (; (changes[next]?.atMs ?? -1) >= untilMs; next += 1)
      heldE18 -= changes[next]?.deltaE18 ?? 0n
    const atEndE18 = heldE18
    let sizeMsE18 = 0n
    let toMs = untilMs
    for (; (changes[next]?.atMs ?? -1) >= fromMs; next += 1) {
      const { atMs, deltaE18 } = changes[next] as (typeof changes)[number]
      sizeMsE18 += heldE18 * BigInt(toMs - atMs)
      heldE18 -= deltaE18
      toMs = atMs
    }
    sizeMsE18 += heldE18 * BigInt(toMs - fromMs)
    endMs = Math.min(endMs, fromMs)
    if (sizeMsE18 === 0n && atEndE18 === 0n) continue
    payments.push({
      at: hour.observed_at,
      sizeE18: atEndE18,
      rate: hour.funding_rate_1h,
      receivedE18: received(hour, sizeMsE18),
    })
  }
  return payments
}

/** Longs pay a positive rate: size × index × rate, for its share of the hour. */
function received({ funding_rate_1h: rate, index_price: index }: FundingRecord, sizeMsE18: bigint) {
  return (-sizeMsE18 * readOrZero(rate) * readOrZero(index)) / (BigInt(HOUR_MS) * E18 * E18)
}
