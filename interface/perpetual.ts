import { z } from 'zod'
import { address, decimal, sentDecimal, type Shape, signedDecimal, unixSeconds } from './values.js'

/** What only perpetual markets show: the chain's state of the market. */

const decimalOrEmpty = z.union([decimal, z.literal('')])

const CollateralAsset = z.object({
  symbol: z.string(),
  asset_address: address.describe('The escrow that a margin deposit approves and pays into.'),
  margin_factor: decimal.describe('Share of the index value counted as maintenance margin.'),
  im_scale: decimal.describe('Further multiplier for initial margin.'),
  cap: decimal.describe('Most that all accounts together may post, in base.'),
  total: decimal.describe('Posted now, in base.'),
  deposits_open: z.boolean().describe('Whether the escrow accepts deposits of these accounts.'),
})

const IndexLagState = z.object({
  enforced: z.boolean().describe('While false, the lag refuses nothing.'),
  max_bps: z.int().min(0).describe('Largest `lag_bps` in size with which new orders are taken.'),
  lag_bps: z
    .int()
    .optional()
    .describe('(sample − index) / index, truncated; absent without a fresh sample.'),
  spot_sample_at: unixSeconds.optional().describe('When the newest sample was taken.'),
  spot_usdc_per_cngn: decimal.optional().describe('The newest sample.'),
  sample_age_sec: z.int().min(0).optional(),
})
export type IndexLagState = Shape<typeof IndexLagState>

/** Body of `POST /v1/internal/index-status`. */
export const IndexStatus = z
  .object({
    at_ms: z.int().min(0).describe('Unix milliseconds at which the sample was taken.'),
    usdc_per_cngn: sentDecimal
      .regex(/[1-9]/, 'must be greater than zero')
      .describe('Price of one cNGN in USDC outside of the venue, above zero.'),
    sample_ok: z.boolean().describe('False: the source calls its sample unusable.'),
  })
  .meta({ id: 'IndexStatus', description: 'A sample of the price outside of the venue.' })

/** The object `perp` of a perpetual's market entry. */
export const PerpState = z
  .object({
    mark_price: decimal.describe('USDC per cNGN; `0` while the feed is stale.'),
    index_price: decimal,
    mark_price_ui: decimalOrEmpty.describe('At most 10 decimals; empty without a positive price.'),
    index_price_ui: decimalOrEmpty,
    price_status: z
      .enum(['ok', 'stale'])
      .describe('`stale` while a price that every trade needs cannot be read on chain.'),
    funding_rate_1h: signedDecimal.describe('Of one hour; positive when longs pay shorts.'),
    ui_long_funding_rate_1h: signedDecimal,
    funding_interval_seconds: z.literal(3600),
    open_interest: decimal.describe('Sum of the long positions, in base.'),
    open_interest_usd: decimal.describe('At the index, in USDC.'),
    open_interest_cap: decimal.describe('Half of `position_cap`: what `open_interest` may reach.'),
    total_position: decimal.describe('Sum of long and short positions, which the cap limits.'),
    position_cap: decimal.describe('Cap of `total_position`.'),
    initial_margin_rate: decimal.describe('Share of the notional.'),
    maintenance_margin_rate: decimal,
    max_leverage: decimalOrEmpty.describe('1 / `initial_margin_rate`; empty when that is zero.'),
    trading_enabled: z.boolean().describe('While false, orders rest and nothing crosses.'),
    paused: z.boolean().describe('While true, new orders are refused with `trading_paused`.'),
    trade_module_address: address,
    quote_asset_address: address,
    margin_manager_address: address,
    collateral_assets: z.array(CollateralAsset).describe('Empty when margin is cash only.'),
    index_lag: IndexLagState.optional().describe(
      'Only where the venue compares the index with samples from outside.',
    ),
    updated_at: unixSeconds.describe('When the chain was read.'),
  })
  .meta({ id: 'PerpState', description: 'A perpetual market as the chain shows it.' })
export type PerpState = Shape<typeof PerpState>
