import { z } from 'zod'
import { MAX_CANCEL_REASON_LENGTH } from '../../core/limits.js'
import { action } from './order-record.js'
import {
  orderId,
  sentAddress,
  sentDecimal,
  sentInteger,
  side,
  signature,
  unixSeconds,
} from './values.js'

/** In trader terms, or in engine terms: one of the two must be whole. */
const EITHER_TERMS = [
  { required: ['order_entry_spec', 'ui_intent'] },
  { required: ['side', 'limit_price', 'desired_amount'] },
]

export const newOrder = z
  .object({
    order_id: orderId,
    owner_address: sentAddress,
    signer_address: sentAddress,
    subaccount_id: sentInteger,
    recipient_id: sentInteger.describe('Equal to `subaccount_id`.'),
    nonce: sentInteger.describe('Never used before by this owner.'),
    asset_address: sentAddress,
    sub_id: sentInteger.optional().describe('`0` unless told.'),
    worst_fee: sentInteger.describe('Equal to the signed word: fee per unit filled at 1e18.'),
    expiry: unixSeconds.describe('Unix seconds, in the future.'),
    action_json: z
      .union([action, z.string().describe('The same object as JSON text.')])
      .describe('The signed action; its numbers are scaled by 1e18, the body’s are not.'),
    signature,
    side: side.optional().describe('Engine side; derived when `ui_intent` is sent.'),
    desired_amount: sentDecimal
      .optional()
      .describe('A multiple of `min_size`; derived when `ui_intent` is sent.'),
    filled_amount: sentDecimal.optional().describe('Already filled elsewhere; `0` unless told.'),
    limit_price: sentDecimal
      .optional()
      .describe('Engine price, a multiple of `tick_size`; derived when `ui_intent` is sent.'),
    order_entry_spec: z.string().optional().describe('With `ui_intent`: the market’s own.'),
    ui_intent: z
      .object({ side: side.optional(), price: sentDecimal, size: sentDecimal })
      .optional()
      .describe('The order in trader terms; flat fields that are sent too must agree.'),
    reduce_only: z.boolean().optional().describe('Only shrink a position; not on spot.'),
  })
  .meta({
    id: 'NewOrder',
    description: 'A signed order. Unknown fields are ignored; null and "" count as absent.',
    anyOf: EITHER_TERMS,
  })

export const cancelBody = z
  .object({
    owner_address: sentAddress,
    nonce: sentInteger.describe('Of the order.'),
    reason: z
      .string()
      .max(MAX_CANCEL_REASON_LENGTH)
      .optional()
      .describe('Kept as `cancel_reason`; `unspecified` unless told.'),
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
  })
