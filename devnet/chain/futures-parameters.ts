/** Parameters of the devnet's dated futures. Rates, fractions and prices have 18 decimals. */

export const ONE = 10n ** 18n

/** The index when the devnet starts, in cNGN per USDC: the inverse of the spot price 1 / 0.00065, rounded. */
export const START_INDEX = 1_538n * ONE

export const FUTURES_PARAMETERS = {
  marketId: 1n,
  /** Age in seconds at which the index becomes stale. */
  heartbeatSec: 180n,
  /** Contracts at 1e18, longs and shorts of all series added. */
  positionCap: 1_000_000n * ONE,
  /** Two tokens, and a position in each of the sixteen series that may be open. */
  maxAccountSize: 18n,
} as const
