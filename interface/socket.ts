import { z } from 'zod'
import { FillEvent } from './fill-event.js'
import { AccountBalances } from './balances.js'
import {
  CandleState,
  LevelDepth,
  LevelsSnapshot,
  LevelsUpdate,
  StatusState,
  TickerState,
} from './market-data.js'
import { cancelAllAfter, cancelOnDisconnect, LeaseFrame } from './lease-frames.js'
import { BookRecord, figures, FINAL, INHERITED, OrderRecord, OrderStatus } from './order.js'
import { orderAnswers, orderRequests } from './socket-orders.js'
import { liquidationsSnapshot, LiquidationsUpdate } from './liquidation-frames.js'
import { CandleInterval, markPrice, tradeId, TradeRecord } from './trade.js'
import {
  decimal,
  engineAmount,
  enginePrice,
  frameNonce,
  frameSignature,
  integer,
  orderId,
  reqId,
  resumePoint,
  sentAddress,
  type Shape,
  Side,
  signedDecimal,
  time,
  unixSeconds,
} from './values.js'

export { reqId } from './values.js'
export { LeaseFrame } from './lease-frames.js'

/** The frames of the WebSocket (sections 6.2 to 6.4): what a client may send, and what the venue sends. */

export const Channel = z
  .enum([
    ...(['book', 'trades', 'orders', 'fills', 'balances'] as const),
    ...(['levels', 'candles', 'ticker', 'status', 'liquidations'] as const),
  ])
  .meta({ id: 'Channel' })
export type Channel = Shape<typeof Channel>

const named = z.string().describe('A symbol, an alias, or `asset_address:sub_id`.')
const market = z.string().describe('Canonical identifier, whichever the subscription used.')
const seq = z
  .int()
  .min(0)
  .describe(
    'On `book`, `trades` and `orders` the number of a change in its market, from 1 without gaps; on `levels` that of the newest change that it shows; every other channel of a market numbers its own events.',
  )

/** What only one channel reads. A depth or an interval of its own is a subscription of its own. */
const options = {
  depth: LevelDepth.optional(),
  interval: CandleInterval.optional().describe('Of `candles`, which needs one.'),
}

const subscribe = z
  .object({
    op: z.literal('subscribe'),
    channel: Channel,
    market: named
      .optional()
      .describe(
        'On private channels, `ticker` and `status` absent for all markets, with those that are listed later; `liquidations` has those of all; else required.',
      ),
    ...options,
    since_seq: resumePoint.optional().describe('Replay what followed instead of a snapshot.'),
    since: z
      .record(z.string(), resumePoint)
      .optional()
      .describe('The same by market, for a private channel of several.'),
    req_id: reqId,
  })
  .meta({ id: 'Subscribe', description: 'Follow a channel: a snapshot, then every change.' })

const unsubscribe = z
  .object({
    op: z.literal('unsubscribe'),
    channel: Channel,
    market: named.optional(),
    ...options,
    req_id: reqId,
  })
  .meta({ id: 'Unsubscribe', description: 'Stop following; answered by an `ack`.' })

const auth = z
  .object({
    op: z.literal('auth'),
    address: sentAddress,
    signer_address: sentAddress
      .optional()
      .describe(
        'The session key of `address` that has signed, where it is not `address` itself; the text is the same. The socket is closed when the key ends.',
      ),
    signature: frameSignature,
    nonce: frameNonce.describe('Opens one socket, once.'),
    issued_at: unixSeconds,
    expiry: unixSeconds.describe('At most 300 seconds after `issued_at`.'),
    req_id: reqId,
  })
  .meta({
    id: 'Auth',
    description: 'Prove an address by an EIP-191 signature; before a private channel.',
  })

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

const fillsSnapshot = snapshotOf('fills', z.array(FillEvent)).meta({
  id: 'FillsSnapshot',
  description: 'Your matches that await settlement, and the newest with an outcome; newest first.',
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
  limit_price: enginePrice,
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
  price: enginePrice,
  size: engineAmount,
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

const REPLAYED =
  'Absent, like `inherited_filled_amount`, only of an order that has ended: in a replay of changes from before the newest 16,384 of the market, and when the chain changes a fill of an order that is not among the newest 16,384 that ended. Such updates lack the figures of the fills too, and so does a replay of changes from before the newest 16,384.'

/** `data` of an `orders` update: where a change left one of the owner’s orders. */
export const OrderDelta = z.object({
  order_id: orderId,
  status: OrderStatus,
  side: Side,
  filled_amount: decimal.describe(
    'Its own fills, settled on chain. In an update that has no `inherited_filled_amount`, what the order inherited counts too.',
  ),
  desired_amount: engineAmount,
  limit_price: enginePrice,
  price_ticks: integer.describe('Limit price in whole ticks.'),
  pending_amount: decimal.describe('Matched, awaiting settlement.'),
  final: z.boolean().describe(FINAL),
  updated_at: time,
  subaccount_id: integer.optional().describe(REPLAYED),
  inherited_filled_amount: decimal.optional().describe(INHERITED),
  cancel_reason: z.string().optional().describe('Present when cancelled.'),
  ...figures,
})
export type OrderDelta = Shape<typeof OrderDelta>

export const OrdersUpdate = updateOf('orders', OrderDelta).meta({
  id: 'OrdersUpdate',
  description: 'Where a change left one of your orders.',
})
export type OrdersUpdate = Shape<typeof OrdersUpdate>

export const FillsUpdate = updateOf('fills', FillEvent).meta({
  id: 'FillsUpdate',
  description: 'A match of one of your orders was proposed, settled, failed or was reversed.',
})
export type FillsUpdate = Shape<typeof FillsUpdate>

const balancesSeq = z
  .int()
  .min(0)
  .describe('Number of an update of your balances, without gaps while you are connected.')

const balancesSnapshot = z
  .object({
    type: z.literal('snapshot'),
    channel: z.literal('balances'),
    seq: balancesSeq,
    req_id: reqId,
    data: z.array(AccountBalances),
  })
  .meta({
    id: 'BalancesSnapshot',
    description: 'What your accounts hold at `seq`, as `GET /v1/balances` shows it.',
  })

export const BalancesUpdate = z
  .object({
    type: z.literal('update'),
    channel: z.literal('balances'),
    seq: balancesSeq,
    prev_seq: z.int().min(0),
    ts: time.describe('When the change was seen.'),
    data: z.array(AccountBalances),
  })
  .meta({
    id: 'BalancesUpdate',
    description:
      'What your accounts hold now, all of them: it replaces what came before. Changes within 50 milliseconds are one update; a new block without another amount is none.',
  })
export type BalancesUpdate = Shape<typeof BalancesUpdate>

const depth = { depth: LevelDepth }
const levelsSnapshot = snapshotOf('levels', LevelsSnapshot).extend(depth).meta({
  id: 'LevelsSnapshot',
  description: 'The best levels of the market at `seq`, the number of its newest change.',
})
const levelsUpdate = updateOf('levels', LevelsUpdate).extend(depth).meta({
  id: 'LevelsUpdate',
  description: 'The levels that changes up to `seq` have made others.',
})

const interval = { interval: CandleInterval }
const candlesSnapshot = snapshotOf('candles', z.array(CandleState).max(200))
  .extend(interval)
  .meta({ id: 'CandlesSnapshot', description: 'The newest candles, oldest first.' })
const candlesUpdate = updateOf('candles', CandleState).extend(interval).meta({
  id: 'CandlesUpdate',
  description: 'A candle as it is now; it replaces that of the same `bucket_start`.',
})

const tickerSnapshot = snapshotOf('ticker', TickerState).meta({
  id: 'TickerSnapshot',
  description: 'The ticker. A number of an earlier connection is answered by a snapshot.',
})
const tickerUpdate = updateOf('ticker', TickerState).meta({
  id: 'TickerUpdate',
  description: 'The whole ticker, of which something is another than before.',
})
const statusSnapshot = snapshotOf('status', StatusState).meta({
  id: 'StatusSnapshot',
  description: 'How the market trades.',
})
const statusUpdate = updateOf('status', StatusState).meta({
  id: 'StatusUpdate',
  description: 'How the market trades from now on, and why.',
})

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
      'session_key_ended',
      'resume_too_old',
      'stream_reset',
      'snapshot_failed',
      'slow_consumer',
      'lease_failed',
      'lease_ended',
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
      'After `resume_too_old` a snapshot follows; `stream_reset` and `snapshot_failed` end the subscription, `slow_consumer` the connection, as does `session_key_ended` of a key that had opened it.',
  })
export type SocketError = Shape<typeof SocketError>

/** What a client may send, by its `op`. */
export const clientFrames = {
  subscribe,
  unsubscribe,
  auth,
  ping,
  ...orderRequests,
  cancel_on_disconnect: cancelOnDisconnect,
  cancel_all_after: cancelAllAfter,
} as const

/** What the venue sends, by the names of the document. */
export const serverFrames = {
  bookSnapshot,
  tradesSnapshot,
  ordersSnapshot,
  fillsSnapshot,
  balancesSnapshot,
  bookUpdate: BookUpdate,
  tradesUpdate: TradesUpdate,
  ordersUpdate: OrdersUpdate,
  fillsUpdate: FillsUpdate,
  balancesUpdate: BalancesUpdate,
  liquidationsSnapshot,
  liquidationsUpdate: LiquidationsUpdate,
  levelsSnapshot,
  levelsUpdate,
  candlesSnapshot,
  candlesUpdate,
  tickerSnapshot,
  tickerUpdate,
  statusSnapshot,
  statusUpdate,
  ack: Ack,
  pong,
  lease: LeaseFrame,
  error: SocketError,
  ...orderAnswers,
} as const
