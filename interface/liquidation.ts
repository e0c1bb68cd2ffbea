import { z } from 'zod'
import { MarketQuery } from './market.js'
import { HistoryQuery, nextBefore } from './order.js'
import { decimal, hash, integer, sentInteger, type Shape, signedDecimal, time } from './values.js'

/** Liquidations: accounts below their maintenance margin, whose positions others take over. Public facts of the chain. */

/** Most liquidations of a snapshot of the channel. */
export const MAX_SNAPSHOT_LIQUIDATIONS = 100

/** One event of a liquidation. */
export const LiquidationRecord = z
  .object({
    market: z.string(),
    event: z
      .enum(['auction_started', 'insolvent_auction_started', 'bid', 'auction_ended', 'takeover'])
      .describe(
        'On a perpetual an auction sells the account: it starts, with `insolvent_auction_started` where the account is worth nothing, takes bids, and ends; it concerns the whole account, and each market of its manager lists it. On a future `takeover` moves a position at once.',
      ),
    subaccount_id: integer.describe('The account that is liquidated.'),
    size: signedDecimal
      .optional()
      .describe(
        'In engine amounts, cNGN on a perpetual and USDC on a future; positive was long. On `bid` and `takeover` what the account gave up; on the start of an auction its position after that block, absent when the venue read the event more than 64 blocks later. Absent on `auction_ended`.',
      ),
    price: decimal
      .optional()
      .describe(
        'Price at which the contracts valued the position: the mark on a perpetual, in USDC per cNGN; the index on a future, in cNGN per USDC. Absent where the transaction states none.',
      ),
    portion: decimal
      .optional()
      .describe('Of a bid: the share of what the account had for sale, at most 1.'),
    by_subaccount_id: integer.optional().describe('The account that took over.'),
    paid: decimal.optional().describe('Of a bid: what it paid to the liquidated account, in USDC.'),
    received: decimal
      .optional()
      .describe(
        'What it was paid: of a bid by the security module, in USDC; of a takeover its bonus from the account, in USD.',
      ),
    occurred_at: time.describe('Of the block.'),
    block_number: z.int().min(0),
    tx_hash: hash,
    log_index: z.int().min(0).describe('Of the event in its block.'),
    reversed: z
      .literal(true)
      .optional()
      .describe(
        'On the channel: the chain has lost the block of the event, which did not happen. Lists leave such events out.',
      ),
  })
  .meta({ id: 'Liquidation', description: 'An event of the liquidation of an account.' })
export type LiquidationRecord = Shape<typeof LiquidationRecord>

/** The body of `GET /v1/liquidations`. */
export const LiquidationsPage = z
  .object({ liquidations: z.array(LiquidationRecord), next_before: nextBefore })
  .meta({ id: 'Liquidations', description: 'A page of liquidations.' })
export type LiquidationsPage = Shape<typeof LiquidationsPage>

/** Query of liquidations; without a market those of all of them. */
export const LiquidationsQuery = z.object({
  ...MarketQuery.shape,
  subaccount_id: sentInteger.optional().describe('Only those of this account.'),
  ...HistoryQuery.shape,
})
