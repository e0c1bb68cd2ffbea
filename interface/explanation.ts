import { z } from 'zod'
import { OrderStatus } from './order.js'
import { tradeId } from './trade.js'
import { decimal, hash, orderId, revertName, type Shape, time } from './values.js'

/** What became of an order and why, in codes and in sentences: `GET /v1/orders/{order_id}/explain`. */

/** What may happen to an order. */
export const LifeCode = z.enum([
  'placed',
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
    at: time.optional().describe('Absent with `matching`, which is the state of now.'),
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

/** The body of `GET /v1/orders/{order_id}/explain`. */
export const Explanation = z
  .object({
    order_id: orderId,
    market: z.string(),
    status: OrderStatus,
    code: z
      .string()
      .describe(
        '`open`, `market_not_open`, `matching`, `filled` or `expired`; the `held_reason` of a held order, the `cancel_reason` of a cancelled one.',
      ),
    text: z.string().describe('Where the order stands, as a sentence.'),
    ends: z
      .string()
      .optional()
      .describe('What would release the order, or what to do; absent where nothing is to be said.'),
    life: z.array(LifeEvent).describe('Oldest first.'),
    life_complete: z
      .boolean()
      .describe('`false`: only the newest 100 events, or the newest 100 fills, are listed.'),
  })
  .meta({ id: 'Explanation', description: 'What became of an order, and why.' })
export type Explanation = Shape<typeof Explanation>
