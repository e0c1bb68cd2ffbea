import type { z } from 'zod'
import { aMarket } from '../support/builders.js'

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export type Fields = Record<string, unknown>

/** A kind of body: its shape, and the two depths at which core/entry reads it. */
export interface Kind {
  readonly schema: z.ZodObject
  /** Bodies that core/entry accepts. */
  readonly valid: readonly Fields[]
  /** Names of its objects, whose fields are spoiled as well. */
  readonly objects: readonly string[]
  /** The code of the refusal by the whole check, undefined when it accepts. */
  readonly refusalOf: (body: unknown) => string | undefined
  /** The same for the shape alone. */
  readonly shapeRefusalOf: (body: unknown) => string | undefined
  /** Fields whose value core/entry does not look at in this body. */
  readonly unread?: (body: Fields) => readonly string[]
  /** Codes of the shape for what the schema does not say: ranges of numbers, fields that must agree. */
  readonly beyondSchema: readonly string[]
  /** Codes of the rest for what no schema says: what one field is to another, to the market or to the clock. */
  readonly beyondBody: readonly string[]
}

export const markets = [aMarket()]
export const codeOf = (checked: object): string | undefined =>
  'refusal' in checked ? (checked.refusal as { code: string }).code : undefined

/** What an order is refused for although each of its fields is declared, in the order of the checks. */
export const BEYOND_ORDER = [
  ...['expiry_past', 'action_expiry_past', 'unknown_instrument', 'wrong_order_entry_spec'],
  ...['order_entry_spec_missing', 'ui_intent_missing', 'invalid_ui_intent_side', 'side_mismatch'],
  ...[
    'limit_price_mismatch',
    'desired_amount_mismatch',
    'limit_price_not_positive',
    'price_off_tick',
  ],
  ...['desired_amount_not_positive', 'size_below_minimum', 'invalid_amount_step'],
  ...['ui_intent_price_not_positive', 'ui_intent_size_not_positive', 'notional_out_of_range'],
  'notional_below_minimum',
  ...['filled_amount_exceeds', 'subaccount_mismatch', 'nonce_mismatch', 'owner_mismatch'],
  ...['signer_mismatch', 'recipient_not_subaccount', 'wrong_module', 'trade_data_words'],
  ...['data_is_bid_mismatch', 'data_worst_fee_mismatch', 'data_limit_price_not_aligned'],
  ...['data_desired_amount_not_aligned', 'reduce_only_unsupported'],
]
