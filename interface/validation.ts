import { z } from 'zod'
import { figures, HeldReasonName, OrderStatus, SpotContract } from './order.js'
import {
  decimal,
  delta,
  engineAmount,
  enginePrice,
  orderId,
  type Shape,
  Side,
  signedDecimal,
} from './values.js'

/** The checks of an order without placing it. Additive to the interface. */

/** Margin of an account in one market, of the same block as the rest of the answer. */
const MarginShown = z
  .object({
    position: signedDecimal.describe('Engine amount: positive is long.'),
    initial_margin_surplus: signedDecimal,
    maintenance_margin_surplus: signedDecimal,
    liquidation_price_ui: decimal
      .optional()
      .describe('On perpetuals; absent where there is no such price.'),
  })
  .meta({ id: 'MarginShown', description: 'In USDC.' })

/** What placing the order would do with the book as it is now. */
const Outcome = z
  .object({
    feed_seq: z.int().describe('The `seq` of the book that it was compared with.'),
    status: OrderStatus.describe('As the answer of `POST /v1/orders` would have it.'),
    limit_price: enginePrice.describe('The price at which it would be booked.'),
    held_reason: HeldReasonName.optional().describe('Why the rest of it would wait.'),
    cancel_reason: z.string().optional().describe('Why the rest of it would be cancelled.'),
    open_amount: decimal.describe('What of it would rest in the book.'),
    complete: z
      .boolean()
      .describe(
        'False when it meets more orders than the market matches in one step, 200: this is what the first step does, and it goes on at once. Also false where hundreds of orders before it are about to expire: then more may match.',
      ),
    fills: z
      .object({
        amount: engineAmount,
        filled_quote: figures.filled_quote.unwrap(),
        average_price: figures.average_price.unwrap(),
        worst_price: enginePrice.describe('The last price that it would reach.'),
        fee: decimal.describe('The taker’s fee, in USDC.'),
        orders: z.int().describe('How many resting orders it would meet.'),
        balance_delta: z
          .object({ usdc: delta, cngn: delta })
          .describe(
            'Both legs, without the fee; on derivatives the exposure that they open, which moves no token.',
          ),
        spot_contract: SpotContract.optional().describe('The fills in both languages.'),
      })
      .optional()
      .describe('What would be matched at once; absent when nothing would.'),
    cancelled: z
      .array(z.object({ order_id: orderId, amount: engineAmount, cancel_reason: z.string() }))
      .describe('Orders of the same owner that would be cancelled at once, this one included.'),
    margin: z
      .object({ before: MarginShown, after: MarginShown.describe('When `fills` have settled.') })
      .optional()
      .describe('On perpetuals and futures, while the chain can price the account.'),
  })
  .meta({
    id: 'OrderOutcome',
    description:
      'What placing the order would do, by the market’s own rules, with the book and the account as they are now. The means of the other orders’ accounts, and what awaits settlement, are not counted.',
  })

/** The body of `POST /v1/orders/validate`. */
export const OrderVerdict = z
  .object({
    valid: z.boolean().describe('Whether `POST /v1/orders` would take it now; nothing was placed.'),
    refusal: z
      .object({
        status: z.int().describe('The status with which the order would be refused.'),
        error: z.string(),
        code: z.string(),
        field: z.string().optional(),
        detail: z.record(z.string(), z.unknown()).optional(),
        message: z.string().optional(),
      })
      .optional()
      .describe('Absent when it is valid.'),
    likely_mistake: z
      .object({ code: z.string(), message: z.string() })
      .optional()
      .describe('With a refused signature: the known mistake that explains it, if one does.'),
    market: z.string().optional(),
    engine_order: z.object({ side: Side, price: enginePrice, amount: engineAmount }).optional(),
    spot_contract: SpotContract.optional().describe('On markets that take `ui_intent`.'),
    signature_status: z
      .enum(['checked', 'unchecked'])
      .optional()
      .describe(
        '`unchecked`: the chain did not answer; the order would rest out of the book until it does.',
      ),
    outcome: Outcome.optional().describe('Where it is valid.'),
    warnings: z.array(z.string()).optional().describe('As on the order record.'),
  })
  .meta({ id: 'OrderVerdict', description: 'What would become of an order.' })
export type OrderVerdict = Shape<typeof OrderVerdict>
export type OrderOutcome = Shape<typeof Outcome>
export type MarginShown = Shape<typeof MarginShown>
