import { MAX_ECHO_LENGTH, MAX_PAGE_LIMIT } from '../limits.js'

/**
 * A refusal is a value: what the venue answers to a request it will not carry out. Every message of the interface
 * stands in this table once.
 */
export interface Refusal {
  /** Stable and machine-readable; the additive `code` of an error body (ORD-032). */
  readonly code: string
  /** HTTP status on the order endpoints. */
  readonly status: number
  /** Text of the body's `error`, exactly as the interface words it. */
  readonly message: string
  readonly field?: string
  readonly detail?: Readonly<Record<string, unknown>>
  /** Further fields of the body's top level, such as `markets` of `unknown_market`. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** The stored order that an identical resubmission repeats (ORD-021). */
  readonly existingOrderId?: string
  /** With `existingOrderId`: the change of its market by which that order was decided; absent while that is not known. */
  readonly decided?: { readonly market: string; readonly seq: number }
}

type Details = Omit<Refusal, 'code' | 'status' | 'message'>

/** Makes refusals of one status. */
export const refuse =
  (status: number) =>
  (code: string, message: string, details: Details = {}): Refusal => ({
    code,
    status,
    message,
    ...details,
  })

export const badRequest = refuse(400)
const mustMatch = (path: string, flat: string, code: string): Refusal =>
  badRequest(code, `${path} must match ${flat}`, { field: path })

/** Client text as an error message repeats it: quoted, control characters escaped, cut when long. */
export function quoted(value: unknown): string {
  if (typeof value !== 'string') return value === null ? 'null' : `a JSON ${typeof value}`
  const cut = value.length > MAX_ECHO_LENGTH ? `${value.slice(0, MAX_ECHO_LENGTH)}…` : value
  return JSON.stringify(cut)
}

/** Refusals whose text is fixed. */
export const refusals = {
  // The request as such.
  invalidJsonBody: badRequest('invalid_json', 'invalid JSON body'),
  bodyTooLarge: refuse(413)('body_too_large', 'request body too large'),
  contentEncoding: refuse(415)(
    'unsupported_content_encoding',
    'content-encoding is not supported: send the body uncompressed',
  ),
  /** Only browsers send the header that this judges. */
  originNotAllowed: refuse(403)('origin_not_allowed', 'origin is not allowed'),
  pathNotFound: refuse(404)('not_found', 'no such path'),
  upgradeRequired: refuse(426)('upgrade_required', 'this endpoint speaks WebSocket'),
  methodNotAllowed: refuse(405)('method_not_allowed', 'method not allowed'),
  internal: refuse(500)('internal', 'internal error'),
  /** The order may or may not have reached the log (ORD-003). */
  outcomeUnknown: refuse(500)(
    'outcome_unknown',
    'outcome not known: safe to retry with the same order_id',
  ),
  /** Too much is waiting; the request was refused before anything was stored. */
  overloaded: refuse(500)(
    'overloaded',
    'too many requests are waiting: nothing was placed, safe to retry',
  ),
  /** Only where the operator limits the orders of an owner; `Retry-After` says when. */
  tooManyOrders: refuse(500)(
    'too_many_orders',
    'owner_address sends too many orders: nothing was placed, safe to retry after Retry-After',
  ),
  /** A read that would have to show an older state than the caller already saw (REA-033). */
  readBehind: refuse(503)('read_behind', 'reads are catching up: retry shortly'),

  // Fields of an order.
  actionJson: badRequest('invalid_action_json', 'action_json must be valid JSON', {
    field: 'action_json',
  }),
  expiryInteger: badRequest('invalid_expiry', 'expiry must be an integer', { field: 'expiry' }),
  expiryPast: badRequest('expiry_past', 'expiry must be in the future', { field: 'expiry' }),
  actionExpiryPast: badRequest('action_expiry_past', 'action_json.expiry must be in the future', {
    field: 'action_json.expiry',
  }),
  side: badRequest('invalid_side', 'side must be buy or sell', { field: 'side' }),
  signatureForm: badRequest(
    'invalid_signature_form',
    'signature must be 0x-prefixed hex of at most 4096 bytes',
    { field: 'signature' },
  ),

  // Instrument.
  instrument: badRequest('unknown_instrument', 'asset_address must match a configured instrument', {
    field: 'asset_address',
  }),
  marketDisabled: badRequest('market_disabled', 'unknown market', { field: 'asset_address' }),

  // Translation of ui_intent.
  translationUnsupported: badRequest(
    'translation_unsupported',
    'order_entry_spec and ui_intent are only supported for the spot usdc/cngn contract',
    { field: 'order_entry_spec' },
  ),
  uiIntentMissing: badRequest(
    'ui_intent_missing',
    'ui_intent is required when order_entry_spec is provided',
    { field: 'ui_intent' },
  ),
  orderEntrySpecMissing: badRequest(
    'order_entry_spec_missing',
    'order_entry_spec is required when ui_intent is provided',
    { field: 'order_entry_spec' },
  ),
  uiIntentForm: badRequest('invalid_ui_intent', 'ui_intent must be an object', {
    field: 'ui_intent',
  }),
  uiIntentSide: badRequest('invalid_ui_intent_side', "ui_intent.side must be 'buy' or 'sell'", {
    field: 'ui_intent.side',
  }),
  sideTranslation: badRequest('side_mismatch', 'side does not match ui_intent translation', {
    field: 'side',
  }),

  // Amounts.
  filledNegative: badRequest('filled_amount_negative', 'filled_amount cannot be negative', {
    field: 'filled_amount',
  }),
  filledExceeds: badRequest('filled_amount_exceeds', 'filled_amount cannot exceed desired_amount', {
    field: 'filled_amount',
  }),
  notionalRange: badRequest(
    'notional_out_of_range',
    'limit_price times desired_amount is more than the chain can hold',
    { field: 'desired_amount' },
  ),

  // Flat fields against the signed action.
  actionSubaccount: mustMatch('action_json.subaccount_id', 'subaccount_id', 'subaccount_mismatch'),
  actionNonce: mustMatch('action_json.nonce', 'nonce', 'nonce_mismatch'),
  actionOwner: mustMatch('action_json.owner', 'owner_address', 'owner_mismatch'),
  actionSigner: mustMatch('action_json.signer', 'signer_address', 'signer_mismatch'),
  recipient: badRequest('recipient_not_subaccount', 'recipient_id must equal subaccount_id', {
    field: 'recipient_id',
  }),

  // The seven words.
  tradeDataWords: badRequest('trade_data_words', 'expected encoded TradeData tuple', {
    field: 'action_json.data',
  }),
  dataAsset: mustMatch('action_json.data.asset', 'asset_address', 'data_asset_mismatch'),
  dataSubId: mustMatch('action_json.data.subId', 'sub_id', 'data_sub_id_mismatch'),
  dataIsBid: mustMatch('action_json.data.isBid', 'side', 'data_is_bid_mismatch'),
  dataWorstFee: mustMatch('action_json.data.worstFee', 'worst_fee', 'data_worst_fee_mismatch'),
  dataRecipient: mustMatch(
    'action_json.data.recipientId',
    'recipient_id',
    'data_recipient_mismatch',
  ),
  dataPricePositive: badRequest(
    'data_price_not_positive',
    'action_json.data.limitPrice must be positive',
    { field: 'action_json.data.limitPrice' },
  ),
  dataAmountPositive: badRequest(
    'data_amount_not_positive',
    'action_json.data.desiredAmount must be positive',
    { field: 'action_json.data.desiredAmount' },
  ),

  reduceOnlyUnsupported: badRequest(
    'reduce_only_unsupported',
    'reduce_only is only supported for perp and future markets',
    { field: 'reduce_only' },
  ),

  // What the chain and the registry say.
  sessionKey: badRequest(
    'signer_not_authorized',
    'signer_address is not a registered session key of owner_address',
    { field: 'signer_address' },
  ),
  signature: badRequest('invalid_signature', 'signature does not authorize this action', {
    field: 'signature',
  }),
  tooManyUnchecked: refuse(500)(
    'signature_unverifiable',
    'the chain cannot be asked about the signature, and too many orders of the market wait for that already: nothing was placed, safe to retry',
  ),
  ownerUnchecked: refuse(500)(
    'too_many_unchecked_orders',
    'the chain cannot be asked about the signature, and too many orders of owner_address wait for that already: nothing was placed, safe to retry',
    { field: 'owner_address' },
  ),
  duplicateOrderId: refuse(409)('duplicate_order_id', 'duplicate order: order_id already used', {
    field: 'order_id',
  }),
  duplicateNonce: refuse(409)('duplicate_nonce', 'duplicate order: nonce already used', {
    field: 'nonce',
  }),

  // Cancels and lookups.
  activeOrderNotFound: refuse(404)('active_order_not_found', 'active order not found'),
  cancelReasonForm: badRequest(
    'invalid_cancel_reason',
    'reason must be at most 128 characters of well-formed text without control characters',
    { field: 'reason' },
  ),
  cancelTarget: refuse(500)('cancel_target_unresolved', 'failed to resolve cancel target'),
  cancelProofRequired: refuse(403)(
    'cancel_proof_required',
    'cancelling needs proof of ownership: a signed cancel or X-Service-Auth',
  ),
  cancelProofOwner: refuse(403)('cancel_not_owner', 'the proof does not authorize owner_address'),
  cancelProofExpired: refuse(403)('cancel_proof_expired', 'the signed cancel has expired'),
  cancelProofSignature: refuse(403)(
    'cancel_proof_invalid',
    'signature does not authorize this cancel',
    { field: 'signature' },
  ),
  cancelProofUnreadable: refuse(500)(
    'cancel_proof_unreadable',
    'the chain could not be asked about the proof: nothing was cancelled, safe to retry',
  ),
  orderNotFound: refuse(404)('order_not_found', 'order not found'),

  // Reads.
  depth: badRequest('invalid_depth', 'depth must be a positive integer', { field: 'depth' }),
  pageLimit: badRequest('invalid_limit', `limit must be between 1 and ${MAX_PAGE_LIMIT}`, {
    field: 'limit',
  }),
  beforeTradeId: badRequest(
    'invalid_before_trade_id',
    'before_trade_id must be a positive integer',
    { field: 'before_trade_id' },
  ),
} as const satisfies Record<string, Refusal>

/** A field that must be there and is not. */
export const fieldRequired = (field: string): Refusal =>
  badRequest(`${field.replaceAll('.', '_')}_required`, `${field} is required`, { field })

/** Refuses the `order_id` of a new order; `reason` follows the field's name. */
export const orderIdForm = (reason: string): Refusal =>
  badRequest('invalid_order_id', `order_id ${reason}`, { field: 'order_id' })

/** Anything but a string of base-10 digits within the field's range. */
export const invalidInteger = (field: string, value: unknown): Refusal =>
  badRequest(
    'invalid_integer',
    `invalid integer value for ${field}: expected a string of base-10 digits in range, got ${quoted(value)}`,
    { field },
  )

/** Anything but plain decimal text with at most the given number of decimals. */
export const invalidDecimal = (field: string, value: unknown, decimals: number): Refusal =>
  badRequest(
    'invalid_decimal',
    `invalid decimal value for ${field}: expected a string like "12.5" with at most ` +
      `${decimals} decimals, got ${quoted(value)}`,
    { field },
  )

export const invalidAddress = (field: string): Refusal =>
  badRequest('invalid_address', `${field} must be 0x followed by 40 hex digits`, { field })

export const notAString = (field: string): Refusal =>
  badRequest('invalid_text', `${field} must be a string`, { field })

/** `desired_amount`, `limit_price` or a number of the intent that is zero or carries a minus sign. */
export const notPositive = (field: string): Refusal =>
  badRequest(`${field.replaceAll('.', '_')}_not_positive`, `${field} must be greater than zero`, {
    field,
  })

export const wrongOrderEntrySpec = (spec: string): Refusal =>
  badRequest(
    'wrong_order_entry_spec',
    `order_entry_spec must be "${spec}" for this market's ui_intent`,
    { field: 'order_entry_spec', detail: { expected: spec } },
  )

/** A flat number that is not what the intent translates to; `expected` is the venue's own translation. */
export const translationMismatch = (
  field: 'limit_price' | 'desired_amount',
  expected: string,
): Refusal =>
  badRequest(`${field}_mismatch`, `${field} does not match ui_intent translation`, {
    field,
    detail: { expected },
  })

/** The valid values on both sides of one that is off the grid; `below` is absent when it would be zero. */
export interface NearestValues {
  readonly below?: string
  readonly above: string
}

export const offTick = (tick: string, nearest: NearestValues): Refusal =>
  badRequest('price_off_tick', `price must align to tick size ${tick}`, {
    field: 'limit_price',
    detail: { tick_size: tick, nearest },
  })

export const offStep = (field: string, step: string, nearest: NearestValues): Refusal =>
  badRequest('invalid_amount_step', `invalid amount step: ${field} must be a multiple of ${step}`, {
    field,
    detail: { step, nearest },
  })

export const belowMinSize = (minSize: string): Refusal =>
  badRequest('size_below_minimum', 'normalized atomic size is 0', {
    field: 'desired_amount',
    detail: { min_size: minSize },
  })

export const wrongModule = (tradeModuleAddress: string): Refusal =>
  badRequest(
    'wrong_module',
    `action_json.module must be the market's trade_module_address ${tradeModuleAddress}`,
    { field: 'action_json.module', detail: { expected: tradeModuleAddress } },
  )

/** `action_json.data` that is not hex at all. */
export const dataNotHex = (reason: string): Refusal =>
  badRequest('data_not_hex', `decode action_json.data: ${reason}`, { field: 'action_json.data' })

/** A word that the chain's decoder would refuse. */
export const dataInvariant = (reason: string): Refusal =>
  badRequest('data_invariant', `action_json.data invariant check failed: ${reason}`, {
    field: 'action_json.data',
  })

/** A signed word that is not the body's number at the chain's scale; both are base-10 integers. */
export const notAligned = (
  word: 'limitPrice' | 'desiredAmount',
  flat: 'limit_price' | 'desired_amount',
  detail: { readonly expected: string; readonly signed: string },
): Refusal =>
  badRequest(
    `data_${flat}_not_aligned`,
    `action_json.data.${word} is not aligned with normalized ${flat}`,
    {
      field: `action_json.data.${word}`,
      detail: {
        ...detail,
        hint: `the body carries ${flat} in human decimals, action_json.data carries it scaled by 1e18`,
      },
    },
  )

export const notInCustody = (subaccountId: bigint): Refusal =>
  badRequest(
    'subaccount_not_in_custody',
    `subaccount_id ${subaccountId} is not deposited in matching custody`,
    { field: 'subaccount_id' },
  )

export const notSubaccountOwner = (subaccountId: bigint): Refusal =>
  badRequest(
    'subaccount_not_owned',
    `subaccount_id ${subaccountId} is not owned by owner_address`,
    { field: 'subaccount_id' },
  )

export const protectedNamespace = (prefix: string): Refusal =>
  refuse(403)(
    'protected_namespace',
    `service-tagged cancels are not allowed for protected namespace "${prefix}"`,
  )

/** An `X-Service-Auth` header that proves no service; `reason` gives the cause. */
export const wrongFrame = (reason: string): Refusal =>
  refuse(403)('cancel_frame_invalid', `X-Service-Auth: ${reason}`)

/** The three-field body of an unknown market; `markets` are the identifiers that exist. */
export const unknownMarket = (message: string, markets: readonly string[]): Refusal =>
  badRequest('unknown_market', 'unknown_market', { extra: { message, markets } })

/** A refusal as JSON: `error` first, then the additive fields (ORD-031). */
export function refusalBody(refusal: Refusal, requestId: string): Record<string, unknown> {
  return {
    error: refusal.message,
    code: refusal.code,
    ...(refusal.field === undefined ? {} : { field: refusal.field }),
    ...(refusal.detail === undefined ? {} : { detail: refusal.detail }),
    ...refusal.extra,
    request_id: requestId,
  }
}

/** The result of a check: what it read, or a refusal. */
export type OrRefusal<T> = T | { readonly refusal: Refusal }
