import { z } from 'zod'
import { marketFields } from './market-entry.js'
import {
  address,
  decimal,
  delta,
  integer,
  orderId,
  sentAddress,
  sentDecimal,
  sentHex,
  sentInteger,
  side,
  signature,
  time,
  unixSeconds,
} from './values.js'

/** The signed action, its texts as the client wrote them. */
export const action = z
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

export const spotContract = z
  .object({
    spec: z.string().describe('Name of the translation between the two statements.'),
    ui_intent: z
      .object({ side, price: sentDecimal, size: sentDecimal })
      .describe('In trader terms; as it was sent when it was.'),
    engine_order: z.object({ side, price: decimal, amount: decimal }).describe('In engine terms.'),
    balance_delta: z
      .object({ usdc: delta, cngn: delta })
      .describe('What the owner gains and gives.'),
  })
  .meta({ id: 'SpotContract', description: 'One order or fill in both languages.' })

/** How an order stands between its creation and its end. */
export const orderStatus = z.enum(['active', 'matching', 'filled', 'cancelled', 'expired']).meta({
  id: 'OrderStatus',
  description: '`matching`: everything open is in matches that await settlement on chain.',
})

const signedFields = {
  order_id: orderId,
  owner_address: address,
  signer_address: address.describe('The owner, or a session key of the owner.'),
  subaccount_id: integer,
  recipient_id: integer,
  nonce: integer.describe('Taken once per owner, for ever.'),
  side: side.describe('Engine side; on spot the inverse of the trader’s.'),
  asset_address: address,
  sub_id: integer,
  desired_amount: decimal,
  limit_price: decimal.describe('Engine price.'),
  worst_fee: integer.describe('Signed bound of the fee per unit filled, at 1e18.'),
  expiry: unixSeconds.describe('Unix seconds.'),
  action_json: action,
  signature,
  signature_status: z
    .enum(['checked', 'unchecked'])
    .describe('`unchecked`: the chain could not be asked yet, so the order is held.'),
  warnings: z.array(z.string()).optional().describe('What will keep it from taking liquidity.'),
}

const progressFields = {
  status: orderStatus,
  filled_amount: decimal.describe('Settled on chain.'),
  pending_amount: decimal.describe('Matched, awaiting settlement.'),
  open_amount: decimal.describe('In the book now.'),
  remaining_amount: decimal.describe('Desired less filled.'),
  created_at: time,
  updated_at: time,
  held_reason: z
    .enum([
      'signature_unchecked',
      'settlement_refused',
      'expiring',
      'continuing',
      'insufficient_balance',
      'not_in_custody',
    ])
    .optional()
    .describe(
      'Present while the order waits out of the book, where its `open_amount` is `0`; it returns by itself. `insufficient_balance`: its subaccount, as the chain was last seen, cannot pay for it. `not_in_custody`: the matching contract does not hold its subaccount for the owner, or is about to give it back. `settlement_refused`: the chain refused a match of it. `signature_unchecked`: the chain has yet to be asked about the signature. `expiring`: its last seconds. `continuing`: it matches on in a moment.',
    ),
  cancel_reason: z.string().optional().describe('Present when cancelled.'),
  cancelled_at: time.optional(),
}

export const orderRecord = z
  .object({
    ...signedFields,
    ...progressFields,
    ...marketFields,
    spot_contract: spotContract.optional().describe('On markets that take `ui_intent`.'),
  })
  .meta({ id: 'Order', description: 'An order and where it stands.' })

export const orderLookup = orderRecord
  .extend({
    cancel_reason: z.string().describe('Empty unless cancelled.'),
    order: orderRecord.describe('The same order once more.'),
  })
  .meta({ id: 'OrderLookup', description: 'An order, flat and as `order`.' })

/** The body of a created or cancelled order. */
export const orderAnswer = z
  .object({ order: orderRecord })
  .meta({ id: 'OrderAnswer', description: 'The order as the request left it.' })
