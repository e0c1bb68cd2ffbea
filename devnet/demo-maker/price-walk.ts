/** Part of a price's movement: between random heights, one a period, it moves in a straight line. */
interface Wave {
  readonly periodMs: bigint
  /** Largest height, in parts per million of the price. */
  readonly ppm: bigint
}

const MINUTE_MS = 60_000n
const WAVES: readonly Wave[] = [
  { periodMs: 240n * MINUTE_MS, ppm: 5_000n },
  { periodMs: 60n * MINUTE_MS, ppm: 2_500n },
  { periodMs: 10n * MINUTE_MS, ppm: 1_000n },
  { periodMs: 2n * MINUTE_MS, ppm: 400n },
  { periodMs: MINUTE_MS / 3n, ppm: 100n },
]

/** A walk is never further from its anchor. */
export const WALK_MAX_PPM = WAVES.reduce((sum, { ppm }) => sum + ppm, 0n)

/**
 * How far a random price is from its anchor at a time, in parts per million, rounded towards zero. The same for the same
 * seed and time, so that a restart continues the walk.
 */
export function walkPpm(seed: number, nowMs: number): bigint {
  const now = BigInt(nowMs)
  return WAVES.reduce((sum, { periodMs, ppm }, wave) => {
    const period = now / periodMs
    const height = (at: bigint): bigint => ppm - randomBelow([seed, wave, at], 2n * ppm + 1n)
    const from = height(period)
    const to = height(period + 1n)
    return sum + from + ((to - from) * (now % periodMs)) / periodMs
  }, 0n)
}

/** A number in 0 … below - 1 that depends on the words alone. */
function randomBelow(words: readonly (number | bigint)[], below: bigint): bigint {
  let hash = 0x811c9dc5
  for (const word of words) {
    hash = Math.imul(hash ^ Number(BigInt.asUintN(32, BigInt(word))), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    hash ^= hash >>> 13
  }
  return (BigInt(hash >>> 0) * below) >> 32n
}
