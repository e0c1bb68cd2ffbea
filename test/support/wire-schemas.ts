/**
 * The heads of the order path's messages as zod describes them, one schema for each reader in bus-schemas/: what a reader takes
 * and what it refuses is compared with these.
 */
import { z } from 'zod'
import { MAX_COMMANDS_PER_MESSAGE } from '../../bus-schemas/command-message.js'
import { WIRE_VERSION, addressText, uintText, wholeNumber } from '../../bus-schemas/wire.js'

/** As uintText, with a minus sign allowed. */
const intText = z
  .string()
  .max(79)
  .regex(/^(0|-?[1-9][0-9]*)$/)
/** Bytes in either case, as they came. */
const hexText = z.string().regex(/^0x[0-9a-fA-F]*$/)

const sideWire = z.enum(['buy', 'sell'])
const statusWire = z.enum(['active', 'matching', 'filled', 'cancelled', 'expired'])
/** Why an order rests without being open. */
const holdWire = z.enum([
  'signature_unchecked',
  'settlement_refused',
  'expiring',
  'continuing',
  'insufficient_balance',
  'not_in_custody',
])

/** The terms of an order as messages and stored rows hold them, amounts at 1e18 in decimal text. */
const orderWire = z.strictObject({
  order_id: z.string(),
  market: z.string(),
  owner: addressText,
  subaccount_id: uintText,
  nonce: uintText,
  side: sideWire,
  desired_amount: uintText,
  initial_filled: uintText,
  limit_price: uintText,
  worst_fee: uintText,
  good_until_sec: wholeNumber,
  signature_status: z.enum(['checked', 'unchecked']),
  ui_intent: z
    .strictObject({ side: sideWire, price: z.string(), size: z.string() })
    .exactOptional(),
})
/** Where an order stands, amounts at 1e18 in decimal text. */
const progressWire = z.strictObject({
  status: statusWire,
  filled: uintText,
  pending: uintText,
  open: uintText,
  created_at_ms: wholeNumber,
  updated_at_ms: wholeNumber,
  held_reason: holdWire.exactOptional(),
  cancel_reason: z.string().exactOptional(),
  cancelled_at_ms: wholeNumber.exactOptional(),
})
/** What a subaccount has on the chain at one block; balances at 1e18 in decimal text, signed. */
const accountWire = z.strictObject({
  subaccount_id: uintText,
  base: intText,
  quote: intText,
  custody_owner: addressText.exactOptional(),
  leaving: z.boolean(),
  block_number: uintText,
  block_time_sec: wholeNumber,
})
const outcomeWire = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('success'), tx_hash: hexText, block_number: uintText }),
  z.strictObject({
    kind: z.literal('reverted'),
    revert: z.string(),
    guilty: z.enum(['maker', 'taker', 'both']),
    tx_hash: hexText.exactOptional(),
  }),
])
const matchFields = {
  settlement_id: z.string(),
  maker_order_id: z.string(),
  taker_order_id: z.string(),
  price: uintText,
  amount: uintText,
  taker_fee: uintText,
}
const matchWire = z.strictObject(matchFields)
const legWire = z.strictObject({
  order_id: z.string(),
  owner: addressText,
  side: sideWire,
  limit_price: uintText,
  desired: uintText,
  ended: z.strictObject({ status: statusWire, filled: uintText }).exactOptional(),
})

const nowWire = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('success'), tx_hash: hexText, block_number: uintText }),
  z.strictObject({
    kind: z.literal('reverted'),
    revert: z.string(),
    told: z.strictObject({ tx_hash: hexText, block_number: uintText, trade_id: wholeNumber }),
  }),
])

/** A settlement whose outcome the chain has changed, as a command of the market's log carries it. */
const reversalWire = z.strictObject({
  no: z.int().positive(),
  match: matchWire,
  maker: legWire,
  taker: legWire,
  now: nowWire,
})

const commandWire = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('PlaceOrder'),
    order: orderWire,
    account: accountWire.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('CancelOrder'),
    owner: addressText,
    nonce: uintText,
    reason: z.string(),
  }),
  z.strictObject({ kind: z.literal('Tick') }),
  z.strictObject({ kind: z.literal('ContinueOrder'), order_id: z.string() }),
  z.strictObject({
    kind: z.literal('SignatureChecked'),
    order_id: z.string(),
    valid: z.boolean(),
  }),
  z.strictObject({ kind: z.literal('AccountObserved'), account: accountWire }),
  z.strictObject({
    kind: z.literal('SettlementReported'),
    settlement_id: z.string(),
    outcome: outcomeWire,
  }),
  z.strictObject({ kind: z.literal('SettlementReversed'), reversal: reversalWire }),
  z.strictObject({ kind: z.literal('ReversalsRead'), up_to: wholeNumber }),
])
const loggedCommandWire = z.strictObject({
  source: z.string(),
  source_no: wholeNumber,
  at_ms: wholeNumber,
  reply_to: z.string().exactOptional(),
  request_id: z.string().exactOptional(),
  command: commandWire,
})
export const commandMessage = z.strictObject({
  v: z.literal(WIRE_VERSION),
  commands: z.array(loggedCommandWire).min(1).max(MAX_COMMANDS_PER_MESSAGE),
})

const fillWire = z.strictObject({
  ...matchFields,
  liquidity: z.enum(['maker', 'taker']),
  fee: uintText,
  tx_hash: hexText,
  block_number: uintText,
  trade_id: wholeNumber,
  taker_side: sideWire,
})
/** Where the order stands after the change; `seq` follows from the change's place in its block. */
const standing = {
  at_ms: wholeNumber,
  filled: uintText,
  pending: uintText,
  open: uintText,
  open_delta: intText,
  status: statusWire,
}
/** What a placement says by its order. */
const identity = {
  order_id: z.string(),
  owner: addressText,
  side: sideWire,
  limit_price: uintText,
  desired: uintText,
}
const later = { ...identity, ...standing }
/** Why an order is not simply open: a hold, a cancellation, or neither. */
const reasons = { hold: holdWire.exactOptional(), cancel_reason: z.string().exactOptional() }

const changeWire = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('OrderPlaced'),
    ...standing,
    rank: wholeNumber,
    ...reasons,
    order: orderWire,
  }),
  z.strictObject({ kind: z.literal('OrderMatched'), ...later, match: matchWire }),
  z.strictObject({ kind: z.literal('OrderFilled'), ...later, fill: fillWire }),
  z.strictObject({
    kind: z.literal('MatchReverted'),
    ...later,
    settlement_id: z.string(),
    revert: z.string(),
    ...reasons,
  }),
  z.strictObject({
    kind: z.literal('FillReversed'),
    ...later,
    fill: fillWire,
    revert: z.string(),
    ...reasons,
  }),
  z.strictObject({ kind: z.literal('OrderHeld'), ...later, hold: holdWire }),
  z.strictObject({ kind: z.literal('OrderReleased'), ...later, ...reasons }),
  z.strictObject({ kind: z.literal('OrderCancelled'), ...later, cancel_reason: z.string() }),
  z.strictObject({ kind: z.literal('OrderExpired'), ...later }),
])
export const blockMessage = z.strictObject({
  v: z.literal(WIRE_VERSION),
  market: z.string(),
  command_seq: wholeNumber,
  command_index: wholeNumber,
  first_seq: z.int().positive(),
  changes: z.array(changeWire),
  leader: z.strictObject({ term: wholeNumber, id: z.string() }).exactOptional(),
})

const version = { v: z.literal(WIRE_VERSION) }
export const requestMessage = z.strictObject({
  ...version,
  request_id: z.string(),
  service_auth: z.string().exactOptional(),
})
export const answerMessage = z.discriminatedUnion('kind', [
  z.strictObject({
    ...version,
    kind: z.literal('order'),
    feed_seq: wholeNumber,
    market: z.string(),
    order: orderWire,
    progress: progressWire,
  }),
  z.strictObject({
    ...version,
    kind: z.literal('refused'),
    refusal: z.strictObject({
      code: z.string(),
      status: z.int(),
      message: z.string(),
      field: z.string().exactOptional(),
      detail: z.record(z.string(), z.unknown()).exactOptional(),
      existing_order_id: z.string().exactOptional(),
    }),
  }),
])
