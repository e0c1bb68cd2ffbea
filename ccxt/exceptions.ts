import {
  AccountNotEnabled,
  ArgumentsRequired,
  AuthenticationError,
  BadRequest,
  BadSymbol,
  DuplicateOrderId,
  ExchangeNotAvailable,
  InsufficientFunds,
  InvalidNonce,
  InvalidOrder,
  MarketClosed,
  NetworkError,
  NotSupported,
  OperationRejected,
  OrderImmediatelyFillable,
  OrderNotFound,
  PermissionDenied,
  RateLimitExceeded,
  RequestTimeout,
  type BaseError,
} from 'ccxt'
import type { ErrorName } from '../interface/error-codes.js'
import type { SocketError } from '../interface/socket.js'

/**
 * The exceptions of CCXT for the venue's codes: every code has one, which the compiler holds to interface/error-codes.ts. What
 * may be sent again as it is, is a NetworkError; of those only RequestTimeout leaves open whether it was carried out.
 */

type ErrorClass = typeof BaseError

const ofRequests = {
  bad_request: BadRequest,
  invalid_json: BadRequest,
  body_too_large: BadRequest,
  unsupported_content_encoding: BadRequest,
  origin_not_allowed: PermissionDenied,
  not_found: NotSupported,
  method_not_allowed: NotSupported,
  upgrade_required: BadRequest,
  internal: ExchangeNotAvailable,
  read_behind: ExchangeNotAvailable,
  too_many_reads: RateLimitExceeded,
  too_many_connections: RateLimitExceeded,
  not_ready: ExchangeNotAvailable,
} as const

const ofOrderFields = {
  '<field>_required': ArgumentsRequired,
  '<field>_not_positive': InvalidOrder,
  invalid_text: InvalidOrder,
  invalid_address: InvalidOrder,
  invalid_integer: InvalidOrder,
  invalid_decimal: InvalidOrder,
  invalid_action_json: InvalidOrder,
  invalid_order_id: InvalidOrder,
  invalid_expiry: InvalidOrder,
  expiry_past: InvalidOrder,
  action_expiry_past: InvalidOrder,
  invalid_side: InvalidOrder,
  invalid_signature_form: AuthenticationError,
  invalid_reduce_only: InvalidOrder,
  invalid_time_in_force: InvalidOrder,
  invalid_post_only: InvalidOrder,
  invalid_stp: InvalidOrder,
  invalid_stp_scope: InvalidOrder,
  reduce_only_unsupported: InvalidOrder,
  invalid_orders: BadRequest,
  post_only_immediate: InvalidOrder,
} as const

const ofInstruments = {
  unknown_instrument: BadSymbol,
  market_disabled: BadSymbol,
  translation_unsupported: InvalidOrder,
  ui_intent_missing: InvalidOrder,
  order_entry_spec_missing: InvalidOrder,
  wrong_order_entry_spec: InvalidOrder,
  invalid_ui_intent: InvalidOrder,
  invalid_ui_intent_side: InvalidOrder,
  side_mismatch: InvalidOrder,
  limit_price_mismatch: InvalidOrder,
  desired_amount_mismatch: InvalidOrder,
  price_off_tick: InvalidOrder,
  invalid_amount_step: InvalidOrder,
  size_below_minimum: InvalidOrder,
  notional_below_minimum: InvalidOrder,
  filled_amount_negative: InvalidOrder,
  filled_amount_exceeds: InvalidOrder,
  notional_out_of_range: InvalidOrder,
} as const

const ofSignedOrders = {
  subaccount_mismatch: InvalidOrder,
  nonce_mismatch: InvalidOrder,
  owner_mismatch: InvalidOrder,
  signer_mismatch: InvalidOrder,
  recipient_not_subaccount: InvalidOrder,
  wrong_module: InvalidOrder,
  trade_data_words: InvalidOrder,
  data_not_hex: InvalidOrder,
  data_invariant: InvalidOrder,
  data_asset_mismatch: InvalidOrder,
  data_sub_id_mismatch: InvalidOrder,
  data_is_bid_mismatch: InvalidOrder,
  data_worst_fee_mismatch: InvalidOrder,
  data_recipient_mismatch: InvalidOrder,
  data_price_not_positive: InvalidOrder,
  data_amount_not_positive: InvalidOrder,
  data_limit_price_not_aligned: InvalidOrder,
  data_desired_amount_not_aligned: InvalidOrder,
  invalid_signature: AuthenticationError,
  signer_not_authorized: PermissionDenied,
  signature_unverifiable: ExchangeNotAvailable,
  too_many_unchecked_orders: RateLimitExceeded,
} as const

const ofAccountsAndMarkets = {
  subaccount_not_in_custody: AccountNotEnabled,
  subaccount_not_owned: PermissionDenied,
  subaccount_not_under_manager: BadRequest,
  account_unreadable: ExchangeNotAvailable,
  market_unreadable: ExchangeNotAvailable,
  position_unreadable: ExchangeNotAvailable,
  margin_unreadable: ExchangeNotAvailable,
  band_unreadable: ExchangeNotAvailable,
  trading_paused: MarketClosed,
  index_lag: OperationRejected,
  trading_ended: MarketClosed,
  index_stale: OperationRejected,
  outside_fill_band: InvalidOrder,
  insufficient_margin: InsufficientFunds,
  reduce_only_no_position: InvalidOrder,
  reduce_only_same_side: InvalidOrder,
  open_order_limit: OperationRejected,
  signer_order_limit: OperationRejected,
  post_only_would_cross: OrderImmediatelyFillable,
  duplicate_order_id: DuplicateOrderId,
  duplicate_nonce: InvalidNonce,
  too_many_orders: RateLimitExceeded,
  overloaded: ExchangeNotAvailable,
  outcome_unknown: RequestTimeout,
} as const

const ofCancels = {
  active_order_not_found: OrderNotFound,
  replacement_filled_amount: InvalidOrder,
  replacement_unchecked: ExchangeNotAvailable,
  replacement_differs: InvalidOrder,
  replacement_too_small: InvalidOrder,
  replacement_ends: InvalidOrder,
  command_refused: OperationRejected,
  desired_amount_negative: InvalidOrder,
  reduction_too_small: InvalidOrder,
  reduction_not_smaller: InvalidOrder,
  order_not_found: OrderNotFound,
  invalid_cancel_reason: BadRequest,
  cancel_target_unresolved: RequestTimeout,
  cancel_proof_required: AuthenticationError,
  cancel_not_owner: PermissionDenied,
  cancel_proof_expired: AuthenticationError,
  cancel_proof_invalid: AuthenticationError,
  cancel_proof_unreadable: ExchangeNotAvailable,
  cancel_frame_invalid: AuthenticationError,
  cancel_proof_early: InvalidNonce,
  cancel_proof_too_long: BadRequest,
  cancel_proof_used: AuthenticationError,
  cancel_proof_use_unknown: ExchangeNotAvailable,
  invalid_issued_at: BadRequest,
  unknown_field: BadRequest,
  invalid_order_ids: BadRequest,
  invalid_seconds: BadRequest,
  order_of_another_owner: PermissionDenied,
  invalid_lease_id: BadRequest,
  lease_ended: OperationRejected,
  too_many_leases: RateLimitExceeded,
  protected_namespace: PermissionDenied,
} as const

const ofTransfers = {
  action_expired: BadRequest,
  action_expiry_too_far: BadRequest,
  amount_not_explicit: BadRequest,
  amount_not_positive: BadRequest,
  subaccount_zero: BadRequest,
  signer_not_owner: PermissionDenied,
  invalid_action_data: BadRequest,
  asset_not_depositable: BadRequest,
  asset_not_withdrawable: BadRequest,
  deposit_below_minimum: BadRequest,
  wrong_manager: BadRequest,
  nonce_spent: InvalidNonce,
  not_a_perp_account: BadRequest,
  insufficient_balance: InsufficientFunds,
  insufficient_allowance: InsufficientFunds,
  invalid_permit_signature_form: BadRequest,
  permit_expired: BadRequest,
  permit_too_small: BadRequest,
  permit_refused: BadRequest,
  '<kind>_in_progress': RateLimitExceeded,
  'too_many_<kind>_requests': RateLimitExceeded,
  too_many_deposits: RateLimitExceeded,
  '<kind>_would_revert': OperationRejected,
  '<kind>_rejected': OperationRejected,
  chain_unreadable: ExchangeNotAvailable,
  '<kind>s_paused_<cause>': ExchangeNotAvailable,
  '<kind>s_off': NotSupported,
  '<kind>s_unavailable': ExchangeNotAvailable,
  '<kind>_unknown': RequestTimeout,
  '<kind>_record_unreadable': ExchangeNotAvailable,
  '<kind>_not_found': BadRequest,
  invalid_action_hash: BadRequest,
} as const

const ofReads = {
  unknown_market: BadSymbol,
  invalid_depth: BadRequest,
  invalid_limit: BadRequest,
  invalid_before_trade_id: BadRequest,
  invalid_interval: BadRequest,
  invalid_candles_limit: BadRequest,
  invalid_start: BadRequest,
  invalid_end: BadRequest,
  end_not_after_start: BadRequest,
  invalid_before: BadRequest,
  subaccount_id_required: ArgumentsRequired,
  invalid_subaccount_id: BadRequest,
  permit_nonce_unreadable: ExchangeNotAvailable,
  no_marks: BadSymbol,
  no_funding: BadSymbol,
  positions_unreadable: ExchangeNotAvailable,
  invalid_subaccount_ids: BadRequest,
  balances_unreadable: ExchangeNotAvailable,
  balances_unavailable: ExchangeNotAvailable,
  accounts_behind: ExchangeNotAvailable,
  accounts_unavailable: ExchangeNotAvailable,
  invalid_levels_depth: BadRequest,
  invalid_listed_depth: BadRequest,
  invalid_listed_limit: BadRequest,
  invalid_type: BadRequest,
  invalid_status: BadRequest,
  filter_needs_status_open: BadRequest,
  invalid_start_time: BadRequest,
  invalid_end_time: BadRequest,
  auth_required: AuthenticationError,
  auth_malformed: AuthenticationError,
  auth_failed: AuthenticationError,
  session_key_ended: AuthenticationError,
  session_key_unreadable: ExchangeNotAvailable,
} as const

const ofTheVenue = {
  invalid_min_seq: ExchangeNotAvailable,
  min_seq_ahead: ExchangeNotAvailable,
  too_many_waiting_reads: RateLimitExceeded,
  index_status_off: NotSupported,
  index_token: PermissionDenied,
  invalid_index_status: BadRequest,
  index_status_ahead: BadRequest,
  index_status_unavailable: ExchangeNotAvailable,
  demo_accounts_off: NotSupported,
  demo_accounts_exhausted: OperationRejected,
  demo_accounts_busy: RateLimitExceeded,
  demo_accounts_unavailable: ExchangeNotAvailable,
} as const

/** By the code of an error body, as the documents write it. */
export const ERRORS: Readonly<Record<ErrorName, ErrorClass>> = {
  ...ofRequests,
  ...ofOrderFields,
  ...ofInstruments,
  ...ofSignedOrders,
  ...ofAccountsAndMarkets,
  ...ofCancels,
  ...ofTransfers,
  ...ofReads,
  ...ofTheVenue,
}

/** By the code of an `error` frame. */
export const SOCKET: Readonly<Record<SocketError['code'], ErrorClass>> = {
  bad_json: BadRequest,
  bad_op: BadRequest,
  bad_channel: NotSupported,
  unknown_market: BadSymbol,
  auth_required: AuthenticationError,
  auth_failed: AuthenticationError,
  session_key_ended: AuthenticationError,
  resume_too_old: NetworkError,
  stream_reset: NetworkError,
  snapshot_failed: NetworkError,
  slow_consumer: NetworkError,
  lease_failed: ExchangeNotAvailable,
  lease_ended: OperationRejected,
}

const isOfSeveral = (code: string): boolean => code.includes('<')

/** The longest part of a code of several that all of them have. */
const commonPart = (code: string): string =>
  code
    .split(/<\w+>/)
    .reduce((longest, part) => (part.length >= longest.length ? part : longest), '')

/** As `describe().exceptions` has them: codes by their names, and by a part of them where one row stands for several. */
export const EXACT = Object.fromEntries(
  Object.entries(ERRORS).filter(([code]) => !isOfSeveral(code)),
)
export const BROAD = Object.fromEntries(
  Object.entries(ERRORS)
    .filter(([code]) => isOfSeveral(code))
    .map(([code, error]) => [commonPart(code), error]),
)
