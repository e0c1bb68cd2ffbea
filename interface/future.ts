import { z } from 'zod'
import { address, decimal, integer, type Shape, unixSeconds } from './values.js'

/** What only futures show: the chain's state of the series. Prices are cNGN per USDC. */
export const FutureState = z
  .object({
    index_price: decimal.optional().describe('Absent while it cannot be read.'),
    mark_price: decimal.optional().describe('Price at which positions are valued.'),
    settlement_price: decimal
      .optional()
      .describe('Price at which every position is closed; absent until the series is settled.'),
    band_width: decimal.optional().describe('Half the width of the fill band, as a fraction.'),
    fill_band_low: decimal.optional().describe('Lowest price of a fill.'),
    fill_band_high: decimal.optional().describe('Highest price of a fill.'),
    band_status: z
      .enum(['ok', 'index_stale'])
      .optional()
      .describe('`index_stale` while the chain refuses every fill. Absent: unreadable.'),
    last_trade_time: unixSeconds.describe('Orders end and trading stops: an hour before expiry.'),
    amount_scale: integer.describe('Signed amount for 1.0 of size.'),
    initial_margin_rate: decimal.optional().describe('Share of the notional.'),
    maintenance_margin_rate: decimal.optional(),
    paused: z.boolean().optional().describe('While true, new orders are refused.'),
    trade_module_address: address,
    margin_manager_address: address,
    updated_at: unixSeconds.optional().describe('When the chain was read.'),
  })
  .meta({ id: 'FutureState', description: 'A series of futures as the chain shows it.' })
export type FutureState = Shape<typeof FutureState>
