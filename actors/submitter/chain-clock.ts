import { exactNumber } from '../../core/decimal.js'

/** The time by which an expiry is judged: the later of our clock and the chain's, which differ at the edges. */
export interface ChainClock {
  /** Unix milliseconds. */
  latestMs(): number
  /** The time of a block that was read, unix seconds. */
  saw(blockSec: bigint): void
}

export function createChainClock(nowMs: () => number): ChainClock {
  let blockMs = 0
  return {
    latestMs: () => Math.max(nowMs(), blockMs),
    // Not the latest ever: a block that was lost again must not make everything expire.
    saw: (blockSec) => (blockMs = exactNumber(blockSec) * 1_000),
  }
}
