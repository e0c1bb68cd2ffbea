import { z } from 'zod'
import {
  cancelReason as reason,
  decimal,
  integer,
  orderId,
  sentAddress,
  sentInteger,
  type Shape,
  Side,
  signature,
  time,
  unixSeconds,
} from './values.js'

/** Cancels of many orders, and leases: promises to cancel unless they are renewed. Additive to the interface. */

/** Most order ids of one cancel. */
export const MAX_CANCELLED_IDS = 200
/** How long a lease may last, in seconds. */
export const LEASE_MIN_SEC = 10
export const LEASE_MAX_SEC = 86_400
/** Longest time a signed cancel of many orders may be valid. */
export const MAX_CANCEL_PROOF_SEC = 60

const proof = {
  owner_address: sentAddress,
  signature: signature
    .optional()
    .describe(
      'Proof without a frame: EIP-712 `CancelAll(address owner,address signer,string scope,uint256 issuedAt,uint256 expiry)` on the signing domain. It cancels once.',
    ),
  signer_address: sentAddress
    .optional()
    .describe('With `signature`: the owner or a session key of the owner.'),
  issued_at: z.union([unixSeconds, sentInteger]).optional().describe('With `signature`.'),
  expiry: z
    .union([unixSeconds, sentInteger])
    .optional()
    .describe(`With \`signature\`: at most ${MAX_CANCEL_PROOF_SEC} seconds after \`issued_at\`.`),
}

const dependentRequired = { signature: ['signer_address', 'issued_at', 'expiry'] }

const market = z
  .string()
  .optional()
  .describe('A symbol, an alias, or `asset_address:sub_id`; default all markets.')

/** The body of `POST /v1/orders/cancel-all`. */
export const CancelAll = z
  .strictObject({
    ...proof,
    market,
    side: Side.optional().describe('Engine side; default both.'),
    subaccount_id: sentInteger.optional().describe('Default all of the owner.'),
    reason,
  })
  .meta({
    id: 'CancelAll',
    description:
      'All orders of an owner, or those of one market, side or subaccount. The signed `scope` is `all`, or what narrows it: `market=cNGN-USDC;side=buy;subaccount_id=7`, the market by its canonical identifier.',
    dependentRequired,
  })
export type CancelAll = Shape<typeof CancelAll>

/** The body of `POST /v1/orders/cancel-list`. */
export const CancelList = z
  .object({
    ...proof,
    order_ids: z.array(orderId).min(1).max(MAX_CANCELLED_IDS).describe('Of any markets.'),
    reason,
  })
  .meta({
    id: 'CancelList',
    description:
      'Orders of one owner by their ids, each for itself. The signed `scope` is `order_ids=` and the list as JSON without blanks.',
    dependentRequired,
  })
export type CancelList = Shape<typeof CancelList>

/** The body of `POST /v1/orders/cancel-all-after`. */
export const CancelAllAfter = z
  .strictObject({
    ...proof,
    market,
    seconds: z
      .union([z.literal(0), z.int().min(LEASE_MIN_SEC).max(LEASE_MAX_SEC)])
      .describe('From now on; 0 disarms.'),
  })
  .meta({
    id: 'CancelAllAfter',
    description:
      'A dead-man switch: unless it is sent again in time, all orders of the owner are cancelled. The signed `scope` is `cancel_all_after=60`, or with `;market=` and a canonical identifier.',
    dependentRequired,
  })
export type CancelAllAfter = Shape<typeof CancelAllAfter>

/** What became of one order of a cancel. */
export const CancelledOrder = z
  .object({
    order_id: orderId,
    market: z.string().optional().describe('Absent when no market knows the order.'),
    outcome: z
      .enum(['cancelled', 'settling', 'not_cancelled'])
      .describe(
        '`cancelled`: what was open is cancelled, `pending_amount` still settles. `settling`: nothing was open, and what a failed settlement would return is cancelled. `not_cancelled`: see `code`.',
      ),
    nonce: integer.optional(),
    filled_amount: decimal.optional().describe('Its own fills, settled on chain.'),
    pending_amount: decimal.optional(),
    code: z.enum(['active_order_not_found', 'order_of_another_owner']).optional(),
    error: z.string().optional(),
  })
  .meta({ id: 'CancelledOrder', description: 'One order of a cancel of many.' })
export type CancelledOrder = Shape<typeof CancelledOrder>

const outcomes = {
  orders: z.array(CancelledOrder),
  left: z
    .int()
    .min(0)
    .describe(
      'Further orders, whose cancels follow at once: beyond about a thousand in one market. They are not matched any more.',
    ),
}

/** The answer to a cancel of many orders. */
export const CancelsAnswer = z
  .object(outcomes)
  .meta({ id: 'CancelsAnswer', description: 'What became of each order.' })
export type CancelsAnswer = Shape<typeof CancelsAnswer>

/** A lease over all orders of an owner in one market. */
const LeaseOfMarket = z.object({
  market: z.string(),
  ends_at: time
    .optional()
    .describe(
      'When the orders are cancelled unless it is renewed; absent when it is disarmed. A renewal of the same length before half of it is spent leaves it as it is.',
    ),
})

/** The answer to a dead-man switch. */
export const LeaseAnswer = z
  .object({ leases: z.array(LeaseOfMarket) })
  .meta({ id: 'LeaseAnswer', description: 'Until when the orders of each market are safe.' })
export type LeaseAnswer = Shape<typeof LeaseAnswer>

const failed = z
  .array(z.object({ market: z.string(), code: z.string(), error: z.string() }))
  .optional()
  .describe('The markets where it failed, when it did not in all of them.')

/** What a refusal has besides its own fields when other markets have carried the request out. */
export const partly = {
  failed_markets: failed,
  orders: z.array(CancelledOrder).optional(),
  left: outcomes.left.optional(),
  leases: z.array(LeaseOfMarket).optional(),
}
