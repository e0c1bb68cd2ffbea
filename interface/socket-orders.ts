import { z } from 'zod'
import { CancelOrder, NewOrder, OrderRecord } from './order.js'
import { reqIdOfOrder as reqId, type Shape } from './values.js'
import { ErrorBody } from './venue.js'

/** Order entry by the WebSocket: what a client may send, and what answers it. */

export const place = z
  .object({ op: z.literal('place'), req_id: reqId, order: NewOrder })
  .meta({ id: 'Place', description: 'Place a signed order, as `POST /v1/orders` does.' })

export const cancel = z
  .object({ op: z.literal('cancel'), req_id: reqId, order: CancelOrder })
  .meta({
    id: 'Cancel',
    description: 'Cancel an active order, as `POST /v1/orders/cancel` does.',
  })

/** What is left to the owner of an order, where the operator limits the orders of an owner: the `RateLimit-*` headers of REST. */
export const RateLimit = z
  .object({
    limit: z.int().min(1).describe('Orders that may be sent at once.'),
    remaining: z.int().min(0),
    reset_seconds: z.int().min(0).describe('Until `remaining` is `limit` again.'),
  })
  .meta({ id: 'RateLimit', description: 'How many orders are left to an owner.' })
export type RateLimit = Shape<typeof RateLimit>

const rateLimit = RateLimit.optional().describe(
  'With an order that counts, where the operator limits the orders of an owner; each process counts alone.',
)

const answers = {
  type: z.literal('result'),
  op: z.enum(['place', 'cancel']),
  req_id: z.string(),
}

export const OrderTaken = z
  .object({
    ...{ ...answers, status: z.literal(200) },
    feed_seq: z
      .int()
      .min(0)
      .describe(
        'Number of the change of the market that answered it: a read over REST with this `min_seq` of the market shows it.',
      ),
    ...{ order: OrderRecord, rate_limit: rateLimit },
  })
  .meta({ id: 'OrderTaken', description: 'The order as the request left it.' })
export type OrderTaken = Shape<typeof OrderTaken>

export const OrderRefused = z
  .object({
    ...answers,
    status: z.int().min(400).describe('The status that the same request gets over REST.'),
    ...ErrorBody.shape,
    message: z.string().optional().describe('With `trading_paused`: why no new orders are taken.'),
    rate_limit: rateLimit,
    retry_after_seconds: z
      .int()
      .min(0)
      .optional()
      .describe(
        'When it may be sent again: with `too_many_orders` when one more is left, with any other status from 500 on the `Retry-After` of REST.',
      ),
  })
  .meta({
    id: 'OrderRefused',
    description:
      'The refusal that the same request gets over REST, with the same code. With `outcome_unknown` the same order may be sent again. ' +
      'A 409 of a repeat says that its market has decided the first, and has no `order`: look it up at `GET /v1/orders/{order_id}`. With `detail.held_by` the id or the nonce is that of another order.',
  })
export type OrderRefused = Shape<typeof OrderRefused>
