import { z } from 'zod'
import { BookRecord, OrderRecord, OrderStatus } from './order.js'
import { markPrice, tradeId, TradeRecord } from './trade.js'
import {
  decimal,
  integer,
  orderId,
  sentAddress,
  type Shape,
  Side,
  signature,
  signedDecimal,
  time,
  unixSeconds,
} from './values.js'

/** The frames of the WebSocket (sections 6.2 to 6.4): what a client may send, and what the venue sends. */

export const reqId = z
  .string()
  .max(128)
  .optional()
  .describe('Chosen by the client; every reply to the frame repeats it.')

export const Channel = z.enum(['book', 'trades', 'orders']).meta({ id: 'Channel' })
export type Channel = Shape<typeof Channel>

const named = z.string().describe('A symbol, an alias, or `asset_address:sub_id`.')
const market = z.string().describe('Canonical identifier, whichever the subscription used.')
const seq = z.int().min(0).describe('Number of a change in its market, from 1 without gaps.')

const subscribe = z
  .object({
    op: z.literal('subscribe'),
    channel: Channel,
    market: named.optional().describe('On `orders` absent for all markets; else required.'),
    since_seq: z.int().min(0).optional().describe('Replay what followed instead of a snapshot.'),
    since: z
      .record(z.string(), z.int().min(0))
      .optional()
      .describe('The same by market, for `orders` of several.'),
    req_id: reqId,
  })
  .meta({ id: 'Subscribe', description: 'Follow a channel: a snapshot, then every change.' })

const unsubscribe = z
  .object({
    op: z.literal('unsubscribe'),
    channel: Channel,
    market: named.optional(),
    req_id: reqId,
  })
  .meta({ id: 'Unsubscribe', description: 'Stop following; answered by an `ack`.' })

const auth = z
  .object({
    op: z.literal('auth'),
    address: sentAddress,
    signature,
    nonce: z.string().min(1).max(128).describe('Opens one socket, once.'),
    issued_at: unixSeconds,
    expiry: unixSeconds.describe('At most 300 seconds after `issued_at`.'),
    req_id: reqId,
  })
  .meta({ id: 'Auth', description: 'Prove an address by an EIP-191 signature; before `orders`.' })

const ping = z
  .object({ op: z.literal('ping'), req_id: reqId })
  .meta({ id: 'Ping', description: 'Answered by `pong`.' })

const snapshotOf = <Name extends Channel, Data extends z.ZodType>(name: Name, data: Data) =>
  z.object({
    type: z.literal('snapshot'),
    channel: z.literal(name),
    market,
    seq,
    req_id: reqId,
    data,
  })

const bookSnapshot = snapshotOf('book', BookRecord).meta({
  id: 'BookSnapshot',
  description: 'The book at `seq`, as `GET /v1/book` shows it.',
})
const tradesSnapshot = snapshotOf('trades', z.array(TradeRecord).max(50)).meta({
  id: 'TradesSnapshot',
  description: 'The newest trades at `seq`, newest first.',
})
const ordersSnapshot = snapshotOf('orders', z.array(OrderRecord)).meta({
  id: 'OrdersSnapshot',
  description: 'Your active and matching orders at `seq`, newest first.',
})

const updateOf = <Name extends Channel, Data extends z.ZodType>(name: Name, data: Data) =>
  z.object({
    type: z.literal('update'),
    channel: z.literal(name),
    market,
    seq,
    prev_seq: z
      .int()
      .min(0)
      .describe(
        'The update before it of the same stream, 0 if none: nothing was missed while it is not above yours.',
      ),
    ts: time.describe('When the change was made.'),
    data,
  })

/** `data` of a `book` update: what one change did to one order. */
export const BookDelta = z.object({
  side: Side,
  price_ticks: integer.describe('Limit price in whole ticks.'),
  limit_price: decimal,
  size_delta: signedDecimal.describe('What the level gained.'),
  order_open: decimal.describe('What the order has left to hit; `0` when it is gone.'),
  order_id: orderId,
})
export type BookDelta = Shape<typeof BookDelta>

export const BookUpdate = updateOf('book', BookDelta).meta({
  id: 'BookUpdate',
  description: 'What one change did to the book.',
})
export type BookUpdate = Shape<typeof BookUpdate>

/** `data` of a `trades` update: a settled match, engine price, size and side. */
export const TradeDelta = z.object({
  trade_id: tradeId,
  price: decimal,
  size: decimal,
  aggressor_side: Side,
  taker_order_id: orderId,
  maker_order_id: orderId,
  created_at: time,
  mark_price: markPrice.optional(),
})
export type TradeDelta = Shape<typeof TradeDelta>

export const TradesUpdate = updateOf('trades', TradeDelta).meta({
  id: 'TradesUpdate',
  description: 'One settled match.',
})
export type TradesUpdate = Shape<typeof TradesUpdate>

/** `data` of an `orders` update: where a change left one of the owner’s orders. */
export const OrderDelta = z.object({
  order_id: orderId,
  status: OrderStatus,
  side: Side,
  filled_amount: decimal.describe('Settled on chain.'),
  desired_amount: decimal,
  limit_price: decimal,
  price_ticks: integer.describe('Limit price in whole ticks.'),
})
export type OrderDelta = Shape<typeof OrderDelta>

export const OrdersUpdate = updateOf('orders', OrderDelta).meta({
  id: 'OrdersUpdate',
  description: 'Where a change left one of your orders.',
})
export type OrdersUpdate = Shape<typeof OrdersUpdate>

export const Ack = z
  .object({
    type: z.literal('ack'),
    channel: Channel.optional(),
    market: market.optional(),
    message: z.enum(['authenticated', 'unsubscribed', 'subscribed', 'resumed']),
    seq: seq.optional(),
    req_id: reqId,
  })
  .meta({
    id: 'Ack',
    description: '`subscribed` and `resumed` answer only frames that carry a `req_id`.',
  })
export type Ack = Shape<typeof Ack>

const pong = z
  .object({ type: z.literal('pong'), req_id: reqId })
  .meta({ id: 'Pong', description: 'Answers `ping`.' })

export const SocketError = z
  .object({
    type: z.literal('error'),
    code: z.enum([
      'bad_json',
      'bad_op',
      'bad_channel',
      'unknown_market',
      'auth_required',
      'auth_failed',
      'resume_too_old',
      'stream_reset',
      'snapshot_failed',
      'slow_consumer',
    ]),
    message: z.string(),
    field: z.string().optional().describe('The field at fault.'),
    channel: Channel.optional(),
    market: market.optional(),
    req_id: reqId,
  })
  .meta({
    id: 'SocketError',
    description:
      'After `resume_too_old` a snapshot follows; `stream_reset` and `snapshot_failed` end the subscription, `slow_consumer` the connection.',
  })
export type SocketError = Shape<typeof SocketError>

/** What a client may send, by its `op`. */
export const clientFrames = { subscribe, unsubscribe, auth, ping } as const

/** What the venue sends, by the names of the document. */
export const serverFrames = {
  bookSnapshot,
  tradesSnapshot,
  ordersSnapshot,
  bookUpdate: BookUpdate,
  tradesUpdate: TradesUpdate,
  ordersUpdate: OrdersUpdate,
  ack: Ack,
  pong,
  error: SocketError,
} as const
