import { z } from 'zod'
import { address, decimal, integer, sentInteger, type Shape, signedDecimal } from './values.js'

/** Positions and margin accounts (sections 2.8 and 4.13). What cannot be priced, because a feed is stale, is empty text. */

const decimalOrEmpty = z.union([decimal, z.literal('')])
const signedOrEmpty = z.union([signedDecimal, z.literal('')])

const accountFields = {
  market: z.string(),
  subaccount_id: integer,
}

const surplusFields = {
  initial_margin_surplus: signedOrEmpty.describe('USDC above initial margin; negative when short.'),
  maintenance_margin_surplus: signedOrEmpty.describe(
    'USDC above maintenance margin; below zero the account is liquidated.',
  ),
}

/** How far an account is from its liquidation, by the market's own price; all else unchanged. */
export const outlookFields = {
  liquidation_status: z
    .enum(['ok', 'due', 'no_position', 'none', 'stale'])
    .describe(
      '`ok` with a price and a distance; `due` below maintenance margin; `no_position` where there is none; `none` when no price of the market alone uses the margin up; `stale` while a price that margin needs cannot be read on chain.',
    ),
  liquidation_price: decimalOrEmpty.describe(
    'Price at which maintenance margin is used up, up to 18 decimals, rounded towards the present price: at it there is margin, beyond it there is none. On a perpetual the mark, in USDC per cNGN, while the index moves by the same share and takes collateral with it; on a future the index, in cNGN per USDC, for all positions of the account. Empty unless `liquidation_status` is `ok`.',
  ),
  liquidation_distance: decimalOrEmpty.describe(
    'How far the present price is from `liquidation_price`, as a share of the present price, rounded down to 6 decimals. `0` when `due`; empty otherwise.',
  ),
}

/** An open position of an account. */
export const PositionRecord = z
  .object({
    ...accountFields,
    ui_side: z.enum(['long', 'short']).describe('`long` when `engine_position` is positive.'),
    engine_position: signedDecimal.describe('Signed size on chain.'),
    ui_size: decimal.describe('Size in cNGN.'),
    ui_notional_usdc: decimalOrEmpty.describe(
      'Size at the index, in USDC, rounded down to 6 decimals.',
    ),
    mark_price_ui: decimalOrEmpty.describe('At most 10 decimals.'),
    index_price_ui: decimalOrEmpty,
    price_status: z
      .enum(['ok', 'stale'])
      .describe('`stale` while a price that the position needs cannot be read on chain.'),
    unrealized_pnl: signedOrEmpty.describe(
      'Profit and funding that the chain has not settled into cash yet, in USDC.',
    ),
    ...surplusFields,
    ...outlookFields,
    liquidation_price_ui: decimal
      .optional()
      .describe(
        'Estimate: mark − surplus / (S − |S| × maintenance rate), collateral not revalued. Absent without a positive value.',
      ),
    entry_price: decimal
      .optional()
      .describe(
        'Average price of the fills that opened it. Absent when this venue’s fills do not add up to the position.',
      ),
    pnl_since_entry: signedDecimal
      .optional()
      .describe(
        '(mark − `entry_price`) × `engine_position`, in USDC, without fees and funding. Absent without `entry_price` or mark.',
      ),
  })
  .meta({ id: 'Position', description: 'An open position as the chain shows it.' })
export type PositionRecord = Shape<typeof PositionRecord>

const Collateral = z.object({
  symbol: z.string(),
  asset_address: address.describe('The escrow that a margin deposit pays into.'),
  balance: signedDecimal,
  value_usd: signedOrEmpty.describe('At the index.'),
  margin_value_usd: signedOrEmpty.describe('What of it counts as maintenance margin.'),
})

/** A margin account in one market. */
export const MarginAccount = z
  .object({
    ...accountFields,
    cash: signedDecimal.describe('USDC; profit and funding that are not settled are not in it.'),
    ...surplusFields,
    collateral: z
      .array(Collateral)
      .describe('One item for each asset that counts as margin besides cash, also without any.'),
  })
  .meta({ id: 'MarginAccount', description: 'What an account holds as margin of a market.' })
export type MarginAccount = Shape<typeof MarginAccount>

/** The body of `GET /v1/positions`. */
export const PositionsBody = z
  .object({
    positions: z.array(PositionRecord).describe('Only where there is a position.'),
    accounts: z
      .array(MarginAccount)
      .describe('One for each listed market under whose manager the account is.'),
  })
  .meta({
    id: 'Positions',
    description: 'An account of perpetual markets, every number of one block of the chain.',
  })
export type PositionsBody = Shape<typeof PositionsBody>

/** Query of positions. */
export const PositionsQuery = z.object({
  subaccount_id: sentInteger.describe('The account; one that does not exist has empty lists.'),
})
