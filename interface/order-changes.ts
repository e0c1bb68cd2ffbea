import { z } from 'zod'
import { CancelOrder, EITHER_TERMS, NAMED, NewOrder, OrderRecord, sentOrderId } from './order.js'
import { sentDecimal, sentInteger, type Shape, withOneOf } from './values.js'
import { ErrorBody } from './venue.js'

/** What changes orders in place, and what places several: replacements, reductions, batches. */

/** Most orders of a batch. */
export const MAX_BATCH_ORDERS = 20

/** The body of `POST /v1/orders/replace`. */
export const ReplaceOrder = NewOrder.extend({
  filled_amount: sentDecimal
    .regex(/^0+(\.0+)?$/, 'must be zero')
    .optional()
    .describe('`0` or absent: what it replaces counts by itself.'),
  replaces_nonce: sentInteger
    .optional()
    .describe(
      'Nonce of the owner’s active order that leaves: of the same market, subaccount and side. This or `replaces_order_id`.',
    ),
  replaces_order_id: sentOrderId
    .optional()
    .describe('Its id, in place of `replaces_nonce`; ignored beside it.'),
}).meta({
  id: 'ReplaceOrder',
  description:
    'A signed order and the one that it replaces. Its signature must have been checked; `filled_amount` is `0` or absent.',
  ...withOneOf(
    EITHER_TERMS.flatMap(({ required }) =>
      ['replaces_nonce', 'replaces_order_id'].map((name) => ({ required: [...required, name] })),
    ),
  ),
})
export type ReplaceOrder = Shape<typeof ReplaceOrder>

export const ReplaceAnswer = z
  .object({
    order: OrderRecord.describe('The new order.'),
    replaced: OrderRecord.describe(
      'The other one, with `cancel_reason` `replaced`; what is pending of it still settles.',
    ),
  })
  .meta({ id: 'ReplaceAnswer', description: 'Both orders as the replacement left them.' })
export type ReplaceAnswer = Shape<typeof ReplaceAnswer>

/** The body of `POST /v1/orders/reduce`. */
export const ReduceOrder = CancelOrder.extend({
  desired_amount: sentDecimal.describe(
    'What the order is to ask for in all: a multiple of `min_size`, at least what is filled and pending. `0` cancels it.',
  ),
}).meta({
  id: 'ReduceOrder',
  description:
    'Names one of the owner’s orders as a cancel does, with the same proof. `reason` is that of the cancel where nothing stays open.',
  dependentRequired: { signature: ['signer_address', 'expiry'] },
  ...withOneOf(NAMED),
})
export type ReduceOrder = Shape<typeof ReduceOrder>

/** The body of `POST /v1/orders/batch`. */
export const PlaceBatch = z
  .object({
    orders: z
      .array(z.union([ReplaceOrder, NewOrder]))
      .min(1)
      .max(MAX_BATCH_ORDERS)
      .describe(
        'One with `replaces_nonce` or `replaces_order_id` is a replacement, the others are new.',
      ),
  })
  .meta({
    id: 'PlaceBatch',
    description: 'Signed orders and replacements; the body has at most 64 KiB.',
  })
export type PlaceBatch = Shape<typeof PlaceBatch>

const placed = z.object({
  status: z.literal(200),
  order: OrderRecord,
  replaced: OrderRecord.optional().describe('Of a replacement: the other order.'),
})
const notPlaced = z
  .looseObject({ status: z.int().min(400), ...ErrorBody.shape })
  .describe(
    'The refusal that `POST /v1/orders`, or `/v1/orders/replace`, would answer with this status.',
  )

export const BatchAnswer = z.object({ results: z.array(z.union([placed, notPlaced])) }).meta({
  id: 'BatchAnswer',
  description: 'What became of each order, in the order of the request.',
})
export type BatchAnswer = Shape<typeof BatchAnswer>
