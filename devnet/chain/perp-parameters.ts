/** Parameters of the devnet's perpetual. Rates and fractions have 18 decimals. */

const ONE = 10n ** 18n
/** One basis point. */
const BPS = ONE / 10_000n

/** Prices of the feeds, in USDC per cNGN at 1e18; the stable token's in US dollars. */
export interface FeedPrices {
  readonly index: bigint
  readonly mark: bigint
  /** Impact prices: what a sale and a purchase of a large amount would get. */
  readonly bid: bigint
  readonly ask: bigint
  readonly stable: bigint
  /** Of every price; 1e18 is full confidence. */
  readonly confidence: bigint
}

const START_PRICE = 650_000_000_000_000n

/** Index and mark 0.00065, with a market around them: there is no premium. */
export const START_PRICES: FeedPrices = {
  index: START_PRICE,
  mark: START_PRICE,
  bid: START_PRICE - 500_000_000_000n,
  ask: START_PRICE + 500_000_000_000n,
  stable: ONE,
  confidence: ONE,
}

/** Ages in seconds at which prices become stale. */
export const HEARTBEAT_SEC = { price: 180n, stable: 3_600n } as const

export const PERP_PARAMETERS = {
  marketId: 1n,
  initialMargin: 1_000n * BPS,
  maintenanceMargin: 650n * BPS,
  /** Hours over which funding pays a premium. */
  convergencePeriod: 8n * ONE,
  /** 0.00125 % an hour. */
  staticRatePerHour: BPS / 8n,
  /** 0.4 % an hour. */
  maxRatePerHour: 40n * BPS,
  /** Contracts at 1e18, longs and shorts added: twice the open interest. */
  positionCap: 10_000_000_000n * ONE,
  /** cNGN at 1e18 that all perpetual accounts together may post. */
  collateralCap: 1_000_000_000n * ONE,
  collateralFactor: 8_000n * BPS,
  collateralInitialScale: 9_000n * BPS,
  oracleContingency: {
    perpThreshold: 5_500n * BPS,
    optionThreshold: 0n,
    baseThreshold: 5_500n * BPS,
    OCFactor: 4_000n * BPS,
  },
  depeg: { threshold: 9_800n * BPS, depegFactor: 12_000n * BPS },
  auction: {
    startingMtMPercentage: 9_500n * BPS,
    fastAuctionCutoffPercentage: 7_000n * BPS,
    fastAuctionLength: 900n,
    slowAuctionLength: 43_200n,
    insolventAuctionLength: 3_600n,
    liquidatorFeeRate: 100n * BPS,
    bufferMarginPercentage: 1_500n * BPS,
  },
  /** USDC of the security module, in the token's 6 decimals. */
  securityEndowment: 1_000_000_000_000n,
} as const
