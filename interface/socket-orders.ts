import { z } from 'zod'
import { CancelAll, CancelsAnswer, partly } from './cancels.js'
import { CancelOrder, NewOrder, OrderRecord } from './order.js'
import { ReduceOrder, ReplaceOrder } from './order-changes.js'
import { reqIdOfOrder as reqId, type Shape } from './values.js'
import { ErrorBody } from './venue.js'

/** Order entry by the WebSocket: what a client may send, and what answers it. */

const place = z
  .object({ op: z.literal('place'), req_id: reqId, order: NewOrder })
  .meta({ id: 'Place', description: 'Place a signed order, as `POST /v1/orders` does.' })

const cancel = z.object({ op: z.literal('cancel'), req_id: reqId, order: CancelOrder }).meta({
  id: 'Cancel',
  description: 'Cancel an active order, as `POST /v1/orders/cancel` does.',
})

const replace = z.object({ op: z.literal('replace'), req_id: reqId, order: ReplaceOrder }).meta({
  id: 'Replace',
  description: 'Replace an active order by a signed one, as `POST /v1/orders/replace` does.',
})

const reduce = z.object({ op: z.literal('reduce'), req_id: reqId, order: ReduceOrder }).meta({
  id: 'Reduce',
  description: 'Shrink an active order in place, as `POST /v1/orders/reduce` does.',
})

const cancelAll = z
  .strictObject({
    op: z.literal('cancel_all'),
    req_id: reqId,
    ...CancelAll.pick({ market: true, side: true, subaccount_id: true, reason: true }).shape,
  })
  .meta({
    id: 'CancelAllFrame',
    description:
      'After `auth`: cancels all orders of the address, or those of one market, side or subaccount, as `POST /v1/orders/cancel-all` does. Answered by a `result` once every market has answered.',
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
  req_id: z.string(),
}

export const OrderTaken = z
  .object({
    ...answers,
    op: z.enum(['place', 'cancel', 'replace', 'reduce']),
    status: z.literal(200),
    feed_seq: z
      .int()
      .min(0)
      .describe(
        'Number of the change of the market that answered it: a read over REST with this `min_seq` of the market shows it.',
      ),
    order: OrderRecord,
    replaced: OrderRecord.optional().describe('Of `replace`: the other order, as it left it.'),
    rate_limit: rateLimit,
  })
  .meta({ id: 'OrderTaken', description: 'The order as the request left it.' })
export type OrderTaken = Shape<typeof OrderTaken>

export const OrdersCancelled = z
  .object({
    ...answers,
    op: z.literal('cancel_all'),
    status: z.literal(200),
    feed_seqs: z
      .record(z.string(), z.int().min(0))
      .describe('By market the number of the change that answered it, as `feed_seq` of an order.'),
    ...CancelsAnswer.shape,
  })
  .meta({ id: 'OrdersCancelled', description: 'What became of each order of a `cancel_all`.' })
export type OrdersCancelled = Shape<typeof OrdersCancelled>

export const OrderRefused = z
  .object({
    ...answers,
    op: z.enum(['place', 'cancel', 'replace', 'reduce', 'cancel_all']),
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
    failed_markets: partly.failed_markets,
    orders: partly.orders.describe('Of `cancel_all`: what the other markets have done.'),
    left: partly.left,
  })
  .meta({
    id: 'OrderRefused',
    description:
      'The refusal that the same request gets over REST, with the same code. With `outcome_unknown` the same order may be sent again. ' +
      'A 409 of a repeat says that its market has decided the first, and has no `order`: look it up at `GET /v1/orders/{order_id}`. With `detail.held_by` the id or the nonce is that of another order.',
  })
export type OrderRefused = Shape<typeof OrderRefused>

/** What a client may send of orders, by its `op`. */
export const orderRequests = { place, cancel, replace, reduce, cancel_all: cancelAll } as const

/** What answers that, by the names of the document. */
export const orderAnswers = {
  orderTaken: OrderTaken,
  ordersCancelled: OrdersCancelled,
  orderRefused: OrderRefused,
} as const
