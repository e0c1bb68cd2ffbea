import { z } from 'zod'
import { AccountBalances } from './balances.js'
import { OrderStatus } from './order.js'
import { tradeId } from './trade.js'
import {
  address,
  decimal,
  hash,
  integer,
  orderId,
  revertName,
  type Shape,
  signedOrEmpty,
  time,
} from './values.js'

/** What became of an order and why, in codes and in sentences: `GET /v1/orders/{order_id}/explain`. */

/** What may happen to an order. */
export const LifeCode = z.enum([
  'placed',
  'reduced',
  'held',
  'released',
  'matching',
  'match_refused',
  'filled',
  'fill_reversed',
  'cancelled',
  'expired',
])

/** One event of an order's life. */
export const LifeEvent = z
  .object({
    at: time
      .optional()
      .describe(
        'With `matching`, when the match was proposed; absent there where no process could name the match, and with `reduced`.',
      ),
    code: LifeCode,
    text: z.string().describe('The same as a sentence.'),
    reason: z
      .string()
      .optional()
      .describe(
        'The `held_reason` with `held`, `released` and refused matches, the `cancel_reason` with `cancelled`.',
      ),
    revert: revertName.optional().describe('With a refused or lost match: what the chain said.'),
    settlement_id: z.string().optional().describe('The match.'),
    counterpart_order_id: orderId
      .optional()
      .describe('With `filled`: the other order of the match.'),
    liquidity: z.enum(['maker', 'taker']).optional(),
    price: decimal.optional(),
    size: decimal.optional(),
    trade_id: tradeId.optional(),
    tx_hash: hash.optional().describe('With `filled`: the transaction that settled the match.'),
    block_number: z.int().min(0).optional(),
  })
  .meta({ id: 'LifeEvent', description: 'One event of an order’s life.' })
export type LifeEvent = Shape<typeof LifeEvent>

/** A token that the rest of an order takes. */
const OrderNeed = z
  .object({
    token: z.string(),
    asset_address: address,
    needed: decimal.describe(
      'What the unmatched rest takes if it is hit at its limit; as taker it pays its fee beside.',
    ),
    missing: decimal.describe(
      'What the balance lacks for that beside the matches that await settlement; other open orders do not count. `0` where nothing is missing.',
    ),
  })
  .meta({ id: 'OrderNeed', description: 'A token that the rest of an order takes.' })

/** What only the owner of an order sees of it. */
export const OwnAccount = z
  .object({
    subaccount_id: integer,
    needs: z
      .array(OrderNeed)
      .describe('What the rest of the order takes of the balances; empty once nothing is left.'),
    initial_margin_needed: signedOrEmpty
      .optional()
      .describe(
        'On markets with positions: initial margin that the rest adds, in USDC, to compare with the margin in `balances`; empty text while a price is stale.',
      ),
    balances: AccountBalances.optional().describe(
      'As in `GET /v1/balances`. Absent, like `needs`, while the chain does not answer, or when the account is no longer in custody for the owner.',
    ),
  })
  .meta({ id: 'OwnAccount', description: 'The account of an order, for its owner.' })
export type OwnAccount = Shape<typeof OwnAccount>

/** Where to read on; paths of this venue. */
export const ExplanationLinks = z
  .object({
    order: z.string(),
    codes: z.string().describe('The page with every code, its cause and its cure.'),
    replaces: z.string().optional().describe('The explanation of the order that it replaced.'),
    balances: z.string().optional().describe('For the owner: the account of the order.'),
    fills: z.string().optional().describe('For the owner: the fills.'),
  })
  .meta({ id: 'ExplanationLinks', description: 'Where to read on; paths of this venue.' })
export type ExplanationLinks = Shape<typeof ExplanationLinks>

/** The body of `GET /v1/orders/{order_id}/explain`. */
export const Explanation = z
  .object({
    order_id: orderId,
    market: z.string(),
    status: OrderStatus,
    code: z
      .string()
      .describe(
        '`open`, `outside_fill_band`, `price_refused`, `market_not_open`, `matching`, `filled` or `expired`; the `held_reason` of a held order, the `cancel_reason` of a cancelled one.',
      ),
    text: z.string().describe('Where the order stands, as a sentence.'),
    ends: z
      .string()
      .optional()
      .describe('What would release the order, or what to do; absent where nothing is to be said.'),
    life: z.array(LifeEvent).describe('Oldest first.'),
    life_complete: z
      .boolean()
      .describe('`false`: only the newest 100 events, fills or pending matches are listed.'),
    links: ExplanationLinks,
    account: OwnAccount.optional().describe(
      'Only where the frame in `X-Service-Auth` is of the order’s owner.',
    ),
  })
  .meta({ id: 'Explanation', description: 'What became of an order, and why.' })
export type Explanation = Shape<typeof Explanation>
