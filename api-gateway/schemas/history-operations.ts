import { z } from 'zod'
import { DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT } from '../../core/limits.js'
import { type Answer, type Operation, readRefusals, refused } from './operation.js'
import { orderRecord, spotContract } from './order-record.js'
import { serviceAuth } from './service-auth.js'
import { address, decimal, hash, integer, orderId, side, time } from './values.js'

const headers = z.object({ 'X-Service-Auth': serviceAuth })

/** Where a page begins: a cursor is opaque and good for one of the two histories. */
const page = z.object({
  limit: z.int().min(1).max(MAX_PAGE_LIMIT).default(DEFAULT_PAGE_LIMIT),
  before: z.string().optional().describe('`next_before` of the page before.'),
})
const nextBefore = z
  .string()
  .optional()
  .describe('Of the next page; present when this one is full.')

/** Whatever a private read answers, no cache may keep it. */
const uncached = (answer: Answer): Answer => ({ ...answer, headers: ['Cache-Control'] })

const refusals: Readonly<Record<number, Answer>> = {
  400: uncached(refused('A bad `limit` or `before`.')),
  401: uncached(refused('The frame is missing, malformed, expired or not signed by its address.')),
  500: uncached(readRefusals[500]),
  503: uncached(readRefusals[503]),
}

const historyOrder = orderRecord
  .extend({
    filled_quote: decimal
      .optional()
      .describe('USDC that changed hands at the prices of the fills; absent without fills.'),
  })
  .meta({ id: 'HistoryOrder', description: 'An order of one’s own, whatever became of it.' })

export const listOrders: Operation = {
  id: 'listOrders',
  tag: 'History',
  summary: 'List one’s own orders, newest first',
  headers,
  query: page,
  responses: {
    200: uncached({
      description: 'One page.',
      body: z
        .object({ orders: z.array(historyOrder), next_before: nextBefore })
        .meta({ id: 'OrderHistory', description: 'A page of orders.' }),
    }),
    ...refusals,
  },
}

const fill = z
  .object({
    trade_id: z.int().min(1).describe('The same for both orders of a trade.'),
    order_id: orderId,
    liquidity: z.enum(['maker', 'taker']),
    side: side.describe('Engine side of one’s own order.'),
    price: decimal.describe('Engine price: the maker’s.'),
    size: decimal,
    asset_address: address,
    sub_id: integer,
    market: z.string(),
    display_name: z.string(),
    created_at: time,
    fee: decimal.describe('What this order paid, in USDC.'),
    tx_hash: hash.describe('The transaction that settled it.'),
    reversed: z
      .literal(true)
      .optional()
      .describe('The chain has lost the settlement for good: it counts no longer.'),
    spot_contract: spotContract.optional().describe('The fill in trader terms.'),
  })
  .meta({ id: 'Fill', description: 'One order’s leg of a settled match.' })

export const listFills: Operation = {
  id: 'listFills',
  tag: 'History',
  summary: 'List one’s own fills, newest first',
  headers,
  query: page,
  responses: {
    200: uncached({
      description: 'One page; a trade between two of one’s own orders is listed once for each.',
      body: z
        .object({ fills: z.array(fill), next_before: nextBefore })
        .meta({ id: 'Fills', description: 'A page of fills.' }),
    }),
    ...refusals,
  },
}
