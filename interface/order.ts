import { z } from 'zod'
import { MarketEntry, MarketFields } from './market.js'
import { sentOptions, shownOptions } from './order-option-fields.js'
import { cancelReasons, describeReasons, holdReasons, type HoldReason } from './reasons.js'
import {
  address,
  cancelReason,
  decimal,
  delta,
  engineAmount,
  enginePrice,
  integer,
  newOrderId,
  orderId,
  pageLimit,
  rangeInQuery,
  sentAddress,
  sentDecimal,
  sentHex,
  sentInteger,
  type Shape,
  Side,
  signature,
  time,
  unixSeconds,
  wholeInQuery,
  withOneOf,
} from './values.js'

/** Orders: their record, the book, the history, and what places and cancels them. */

/** Largest `depth` of a book. */
const MAX_DEPTH = 1_000_000

/** The signed action, its texts as the client wrote them. */
export const ActionJson = z
  .object({
    subaccount_id: sentInteger,
    nonce: sentInteger,
    module: sentAddress.describe('Of an order the market’s trade module.'),
    data: sentHex.describe(
      'Of an order seven words: asset, subId, limitPrice, desiredAmount, worstFee, recipientId, isBid.',
    ),
    expiry: sentInteger.describe('Unix seconds.'),
    owner: sentAddress,
    signer: sentAddress,
  })
  .meta({ id: 'Action', description: 'What is signed, as EIP-712 struct `Action`.' })
export type ActionJson = Shape<typeof ActionJson>

/** An order, a trade or a fill in trader terms and in engine terms. */
export const SpotContract = z
  .object({
    spec: z.string().describe('Name of the translation between the two statements.'),
    ui_intent: z
      .object({ side: Side, price: sentDecimal, size: sentDecimal })
      .describe('In trader terms; as it was sent when it was.'),
    engine_order: z
      .object({ side: Side, price: enginePrice, amount: engineAmount })
      .describe('In engine terms.'),
    balance_delta: z
      .object({ usdc: delta, cngn: delta })
      .describe(
        'What the owner gains and gives; on a perpetual the exposure that a fill opens, which moves no token.',
      ),
  })
  .meta({ id: 'SpotContract', description: 'One order or fill in both languages.' })
export type SpotContract = Shape<typeof SpotContract>

/** How an order stands. */
export const OrderStatus = z.enum(['active', 'matching', 'filled', 'cancelled', 'expired']).meta({
  id: 'OrderStatus',
  description: '`matching`: everything open is in matches that await settlement on chain.',
})
export type OrderStatus = Shape<typeof OrderStatus>
const signedFields = {
  order_id: orderId,
  owner_address: address,
  signer_address: address.describe('The owner, or a session key of the owner.'),
  subaccount_id: integer,
  recipient_id: integer,
  nonce: integer.describe('Taken once per owner, for ever.'),
  side: Side.describe('Engine side; on spot the inverse of the trader’s.'),
  asset_address: address,
  sub_id: integer,
  desired_amount: engineAmount,
  limit_price: enginePrice,
  worst_fee: integer.describe('Signed bound of the fee per unit filled, at 1e18.'),
  expiry: unixSeconds.describe('Unix seconds.'),
  action_json: ActionJson,
  signature,
  signature_status: z
    .enum(['checked', 'unchecked'])
    .describe('`unchecked`: the chain could not be asked yet, so the order is held.'),
  ...shownOptions,
  signed_limit_price: decimal
    .optional()
    .describe('The signed limit, where the order was booked at another `limit_price`.'),
  signed_desired_amount: decimal
    .optional()
    .describe('The signed amount, where the order was reduced to another `desired_amount`.'),
  replaces_order_id: orderId
    .optional()
    .describe(
      'The order that it replaced, whose filled and pending amounts are its `inherited_filled_amount`.',
    ),
  warnings: z
    .array(z.string())
    .optional()
    .describe(
      '`worst_fee_below_taker_schedule`: it will not take liquidity. `worst_fee_below_best_price`: when it came, the fee at the best price of the other side was above its bound; what is left of it is cancelled where it meets that price. `expiry_far_ahead:<unit>`: `expiry` is more than ten years ahead; as `milliseconds` or `microseconds` it would be near, `never` is beyond every date, `seconds` is only far. `ignored_field:<name>`: the body had a field that looks like a trading instruction and did nothing.',
    ),
}

/** Why an order waits out of the book. */
export const HeldReasonName = z
  .enum(Object.keys(holdReasons) as [HoldReason, ...HoldReason[]])
  .meta({ id: 'HeldReason', description: describeReasons(holdReasons) })

/** Of records and of `orders` updates. */
export const FINAL =
  'Whether no change can follow: it has ended, and nothing of it awaits settlement. A `cancelled` order with a `pending_amount` is not final and may still fill. Only a chain that changes its answer about a match takes a fill back later, or fills it late, as `fills` says.'
export const INHERITED =
  'What counts as filled and is not a fill of this order: filled and pending of the order that it replaced at that moment, or the `filled_amount` that its client declared. It is in no sum of fills.'

/** What the own fills of an order that stand add up to. */
export const figures = {
  filled_quote: decimal
    .optional()
    .describe(
      'In USDC, over its own fills: on spot Σ price × size, what changed hands; on a perpetual the same, the exposure; on futures Σ size, the notional. Absent without fills.',
    ),
  average_price: enginePrice
    .optional()
    .describe(
      'Engine price of its own fills, weighted by size, rounded half up at 18 decimals: USDC per cNGN on spot and perpetuals, cNGN per USDC on futures. Absent without fills.',
    ),
  fee_paid: decimal
    .optional()
    .describe(
      'Fees of its own fills, in USDC. Absent, like the other two, where not all of its fills are known: at this moment, when the look-up has them, or since a restore from a backup that lacks them.',
    ),
}

const progressFields = {
  status: OrderStatus,
  final: z.boolean().describe(FINAL),
  filled_amount: decimal.describe('Its own fills, settled on chain.'),
  inherited_filled_amount: decimal.describe(INHERITED),
  pending_amount: decimal.describe('Matched, awaiting settlement.'),
  open_amount: decimal.describe('In the book now.'),
  remaining_amount: decimal.describe('Desired less inherited less filled.'),
  ...figures,
  created_at: time,
  updated_at: time,
  held_reason: HeldReasonName.optional().describe(
    'Present while the order waits out of the book, where its `open_amount` is `0`; it returns by itself.',
  ),
  cancel_reason: z
    .string()
    .optional()
    .describe(
      `Present when cancelled: the reason of the cancel, or one of the venue's own, or, of an IOC or FOK order, the reason of the hold that it would have got.\n${describeReasons(cancelReasons)}`,
    ),
  cancelled_at: time.optional(),
}

/** The order record, the same on every endpoint and channel. */
export const OrderRecord = z
  .object({
    ...signedFields,
    ...progressFields,
    ...MarketFields.shape,
    spot_contract: SpotContract.optional().describe('On markets that take `ui_intent`.'),
  })
  .meta({ id: 'Order', description: 'An order and where it stands.' })
export type OrderRecord = Shape<typeof OrderRecord>

/** The body of `GET /v1/orders/{order_id}`. */
export const OrderLookup = OrderRecord.extend({
  cancel_reason: z.string().describe('Empty unless cancelled.'),
  order: OrderRecord.describe('The same order once more.'),
}).meta({ id: 'OrderLookup', description: 'An order, flat and as `order`.' })
export type OrderLookup = Shape<typeof OrderLookup>

/** The body of a created or cancelled order. */
export const OrderAnswer = z
  .object({ order: OrderRecord })
  .meta({ id: 'OrderAnswer', description: 'The order as the request left it.' })
export type OrderAnswer = Shape<typeof OrderAnswer>

/** `next_before` of a page of the order history or of fills. */
export const nextBefore = z
  .string()
  .optional()
  .describe('Of the next page; present when this one is full.')

/** The body of `GET /v1/orders`. */
export const OrderHistoryPage = z
  .object({ orders: z.array(OrderRecord), next_before: nextBefore })
  .meta({ id: 'OrderHistory', description: 'A page of orders.' })
export type OrderHistoryPage = Shape<typeof OrderHistoryPage>

/** Query of the histories; a cursor is opaque and valid for one of them. */
export const HistoryQuery = z.object({
  limit: pageLimit,
  before: z.string().optional().describe('`next_before` of the page before.'),
  ...rangeInQuery,
})

/** Query of the order history. */
export const OrdersQuery = HistoryQuery.extend({
  status: z
    .literal('open')
    .optional()
    .describe('Only orders that are `active` or `matching`, whatever came after them.'),
  market: z
    .string()
    .optional()
    .describe('With `status=open`: only orders of this market, by its identifier.'),
  subaccount_id: sentInteger
    .optional()
    .describe('With `status=open`: only orders of this subaccount.'),
})

/** The body of `GET /v1/book`, and a snapshot of the `book` channel. */
export const BookRecord = z
  .object({
    market_presentation: MarketEntry,
    bids: z.array(OrderRecord).describe('Engine buys, best first, then oldest first.'),
    asks: z.array(OrderRecord).describe('Engine sells, best first, then oldest first.'),
  })
  .meta({ id: 'Book', description: 'Every order that can be hit, in engine terms.' })
export type BookRecord = Shape<typeof BookRecord>

/** Query of the book besides its market. */
export const BookQuery = z.object({
  depth: wholeInQuery(z.int().min(1).max(MAX_DEPTH).optional(), 7).describe(
    'Orders of each side; default all.',
  ),
})

/** Trader terms or engine terms: the fields of at least one alternative are required. */
export const EITHER_TERMS = [
  { required: ['order_entry_spec', 'ui_intent'] },
  { required: ['side', 'limit_price', 'desired_amount'] },
]

/** The body of `POST /v1/orders`. Its checks, their order and their texts are those of core/entry. */
export const NewOrder = z
  .object({
    order_id: newOrderId,
    owner_address: sentAddress,
    signer_address: sentAddress,
    subaccount_id: sentInteger,
    recipient_id: sentInteger.describe('Equal to `subaccount_id` (ORD-042).'),
    nonce: sentInteger.describe('Never used before by this owner (ORD-018).'),
    asset_address: sentAddress,
    sub_id: sentInteger.optional().describe('Default `0`.'),
    worst_fee: sentInteger.describe(
      'Equal to the signed word (ORD-039): fee per unit filled at 1e18.',
    ),
    expiry: unixSeconds.describe('Unix seconds, in the future (ORD-029).'),
    action_json: z
      .union([ActionJson, z.string().describe('The same object as JSON text.')])
      .describe('The signed action; its numbers are scaled by 1e18, the body’s are not.'),
    signature,
    side: Side.optional().describe('Engine side; derived when `ui_intent` is sent.'),
    desired_amount: sentDecimal
      .optional()
      .describe('A multiple of `min_size` (ORD-046); derived when `ui_intent` is sent.'),
    filled_amount: sentDecimal.optional().describe('Already filled elsewhere; default `0`.'),
    limit_price: sentDecimal
      .optional()
      .describe(
        'Engine price, a multiple of `tick_size` (ORD-045); derived when `ui_intent` is sent.',
      ),
    order_entry_spec: z.string().optional().describe('With `ui_intent`: the market’s own.'),
    ui_intent: z
      .object({ side: Side.optional(), price: sentDecimal, size: sentDecimal })
      .optional()
      .describe('The order in trader terms; flat fields that are sent too must agree.'),
    ...sentOptions,
  })
  .meta({
    id: 'NewOrder',
    description: 'A signed order. Unknown fields are ignored; null and "" count as absent.',
    ...withOneOf(EITHER_TERMS),
  })
export type NewOrder = Shape<typeof NewOrder>

/** The id by which a request names an order, of any form: one that was never taken is not found. */
export const sentOrderId = z.string().min(1)

/** An order is named by its nonce or by its id. */
export const NAMED = [{ required: ['nonce'] }, { required: ['order_id'] }]

/** The body of `POST /v1/orders/cancel`. Its checks, their order and their texts are those of core/entry. */
export const CancelOrder = z
  .object({
    owner_address: sentAddress,
    nonce: sentInteger.optional().describe('Of the order; this or `order_id`.'),
    order_id: sentOrderId.optional().describe('In place of `nonce`; ignored beside it.'),
    reason: cancelReason,
    service: z
      .string()
      .optional()
      .describe('Marks the cancel as a service’s own, which protected ids refuse.'),
    signature: signature
      .optional()
      .describe('Proof: EIP-712 `Cancel(owner, signer, nonce, expiry)` on the signing domain.'),
    signer_address: sentAddress
      .optional()
      .describe('With `signature`: the owner or a session key.'),
    expiry: z
      .union([unixSeconds, sentInteger])
      .optional()
      .describe('With `signature`: unix seconds until which it counts.'),
  })
  .meta({
    id: 'CancelOrder',
    description: 'Names one of the owner’s orders; whatever proof is sent must hold.',
    dependentRequired: { signature: ['signer_address', 'expiry'] },
    ...withOneOf(NAMED),
  })
export type CancelOrder = Shape<typeof CancelOrder>
