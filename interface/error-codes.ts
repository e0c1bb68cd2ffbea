import { optionErrorCodes } from './order-options.js'
import { SOCKET_CODES } from './socket-error-codes.js'
import { venueErrorCodes } from './venue-error-codes.js'

/**
 * Every error code of the venue with its cause and what to do about it, in the groups in which the documents show them: the
 * HTTP statuses, the cause and the cure, parted by bars. The tests hold the table to the refusals that the venue makes. A
 * word in angle brackets stands for one of several.
 */
const ERROR_CODES = {
  'Any request': {
    bad_request:
      '400, 408, 431 | The request is not proper HTTP, too slow, or its headers are too large or more than 100. | Send one Host header, headers below 16 KiB, and the body at once.',
    invalid_json:
      '400 | The body is not a JSON object, or a field has another JSON type than it must. | Send one JSON object; amounts, nonces and ids are strings.',
    body_too_large: '413 | The body is larger than 64 KiB. | Send less; an order has about 1 KiB.',
    unsupported_content_encoding: '415 | The body is compressed. | Send it uncompressed.',
    origin_not_allowed:
      '403 | A page of an origin that the venue does not allow sent the request. | The operator adds the origin to ALLOWED_ORIGINS; programs send no Origin header.',
    not_found: '404 | No endpoint has this path. | See /docs for the paths.',
    method_not_allowed: '405 | The path exists, with another method. | See /docs for the method.',
    upgrade_required:
      '426 | /v1/ws was asked for without a WebSocket upgrade. | Connect with a WebSocket client.',
    internal:
      '500 | Something broke in the venue. | Retry; tell the operator the request_id if it stays.',
    read_behind: '503 | Reads lag behind what the venue has already answered. | Retry in a moment.',
    too_many_reads:
      '503 | Too many large reads of the address are in flight. | Retry after the Retry-After header; one at a time is always admitted.',
    too_many_connections:
      '429, 503 | The address, or all clients together, hold too many connections. | Close idle connections, or keep one open and reuse it.',
    not_ready:
      '503 | Parts of the venue do not answer; missing names them. | Wait, or see the logs of the parts that are named.',
  },
  'Placing orders: fields': {
    '<field>_required': '400 | The field is missing. | Send it.',
    '<field>_not_positive':
      '400 | The number is zero or negative. | Send a number greater than zero.',
    invalid_text: '400 | The field is not a string. | Send a JSON string.',
    invalid_address: '400 | The field is not an address. | Send 0x and 40 hex digits.',
    invalid_integer:
      '400 | The field is not an integer of base 10 within its range. | Send its digits as a string, without sign, point or exponent.',
    invalid_decimal:
      '400 | The field is not a plain decimal, or has too many decimals. | Send text like 12.5, without exponent.',
    invalid_action_json:
      '400 | action_json is not a JSON object. | Send the signed action as an object, or as its JSON text.',
    invalid_order_id:
      '400 | order_id is blank, . or .., longer than 128 characters, or has control, format, invisible or bidirectional characters or line separators. | Choose an id of 1 to 128 plain characters.',
    invalid_expiry:
      '400 | expiry is not a JSON integer. | Send unix seconds as a number, without quotes.',
    expiry_past:
      '400 | expiry is not in the future. | Sign an expiry ahead of /v1/time; it is in seconds, not milliseconds.',
    action_expiry_past:
      '400 | The signed expiry is not in the future. | Sign an expiry ahead of /v1/time, in seconds.',
    invalid_side: '400 | side is neither buy nor sell. | Send buy or sell, in lower case.',
    invalid_signature_form:
      '400 | signature is not hex of at most 4096 bytes. | Send 0x and the bytes of the signature.',
    ...optionErrorCodes,
    reduce_only_unsupported:
      '400 | reduce_only was sent on a market without positions. | Leave it out on spot.',
    invalid_orders: '400 | orders is not a list of 1 to 20 orders. | Send several batches.',
    post_only_immediate: '400 | post_only was combined with IOC or FOK. | Choose one of them.',
  },
  'Placing orders: instrument, price and amount': {
    unknown_instrument:
      '400 | asset_address and sub_id name no market. | Read both from /v1/markets; they differ between deployments.',
    market_disabled:
      '400 | The market takes no orders; it is not listed. | Choose a market of /v1/markets.',
    translation_unsupported:
      '400 | order_entry_spec or ui_intent was sent on a market without a translation. | Send engine terms alone.',
    ui_intent_missing: '400 | order_entry_spec was sent without ui_intent. | Send both or neither.',
    order_entry_spec_missing:
      '400 | ui_intent was sent without order_entry_spec. | Send both or neither.',
    wrong_order_entry_spec:
      '400 | The market has another order_entry_spec. | Read it from the market entry.',
    invalid_ui_intent: '400 | ui_intent is not an object. | Send {side, price, size}.',
    invalid_ui_intent_side: '400 | ui_intent.side is neither buy nor sell. | Send buy or sell.',
    side_mismatch:
      "400 | side is not what ui_intent translates to. | On spot the engine side is the opposite of the trader's; or leave side out.",
    limit_price_mismatch:
      '400 | limit_price is not what ui_intent translates to. | Take detail.expected, or leave limit_price out.',
    desired_amount_mismatch:
      '400 | desired_amount is not what ui_intent translates to. | Take detail.expected, or leave desired_amount out.',
    price_off_tick:
      '400 | limit_price is not a multiple of the tick. | Take a price of detail.nearest.',
    invalid_amount_step:
      '400 | An amount is not a multiple of the step. | Take an amount of detail.nearest.',
    size_below_minimum:
      '400 | The amount is below min_size. | Order at least min_size of the market entry.',
    notional_below_minimum:
      "400 | limit price times amount is below the market's min_notional. | Order more; the market entry has min_notional.",
    filled_amount_negative:
      '400 | filled_amount is negative. | Leave it out; new orders have filled nothing.',
    filled_amount_exceeds: '400 | filled_amount is larger than desired_amount. | Leave it out.',
    notional_out_of_range:
      '400 | limit price times amount does not fit what the chain can count. | Order less.',
  },
  'Placing orders: what was signed': {
    subaccount_mismatch:
      '400 | The signed subaccount is not subaccount_id. | Sign what the body says.',
    nonce_mismatch: '400 | The signed nonce is not nonce. | Sign what the body says.',
    owner_mismatch: '400 | The signed owner is not owner_address. | Sign what the body says.',
    signer_mismatch: '400 | The signed signer is not signer_address. | Sign what the body says.',
    recipient_not_subaccount: '400 | recipient_id is not subaccount_id. | Send the same id twice.',
    wrong_module:
      '400 | The signed module is not the one of this market or transfer. | Take trade_module_address of the market entry, or the module of /v1/venue.',
    trade_data_words:
      '400 | action_json.data is not seven words. | Encode (address, uint256, int256, int256, uint256, uint256, bool).',
    data_not_hex: '400 | action_json.data is not hex. | Send 0x and an even number of hex digits.',
    data_invariant:
      '400 | A word of action_json.data is one that the chain cannot decode. | The message names the word; encode it with an ABI library.',
    data_asset_mismatch: '400 | The signed asset is not asset_address. | Sign what the body says.',
    data_sub_id_mismatch: '400 | The signed subId is not sub_id. | Sign what the body says.',
    data_is_bid_mismatch:
      "400 | The signed isBid is not the engine side. | isBid is true for an engine buy; on spot that is a trader's sell of USDC.",
    data_worst_fee_mismatch:
      '400 | The signed worstFee is not worst_fee. | Sign what the body says.',
    data_recipient_mismatch:
      '400 | The signed recipientId is not recipient_id. | Sign what the body says.',
    data_price_not_positive:
      '400 | The signed limit price is not positive. | Sign the price at 1e18.',
    data_amount_not_positive:
      "400 | The signed amount is not positive. | Sign the amount at the market's scale.",
    data_limit_price_not_aligned:
      '400 | The signed price is not limit_price at 1e18. | Sign detail.expected; the body has human decimals.',
    data_desired_amount_not_aligned:
      "400 | The signed amount is not desired_amount at the market's scale. | Sign detail.expected; the body has human decimals.",
    invalid_signature:
      "400, 401 | The signature is not the signer's over this action. | POST /v1/orders/validate names the likely mistake; compare with /v1/signing-vectors.json.",
    signer_not_authorized:
      '400 | signer_address is not a session key of the owner, or its registration has ended. | Register the key on the matching contract, or sign as the owner.',
    signature_unverifiable:
      '500 | The chain cannot be asked about the signature, and 1,000 orders of the market wait for that. | Retry the same order in a moment.',
    too_many_unchecked_orders:
      '500 | The chain cannot be asked about the signature, and 3 orders of the owner and signer, or 100 of the owner, wait for that. | Retry the same order in a moment; what waits can be cancelled.',
  },
  'Placing orders: account and market': {
    subaccount_not_in_custody:
      '400 | The matching contract does not hold the subaccount. | Deposit the subaccount with the matching contract.',
    subaccount_not_owned:
      '400, 403 | The subaccount belongs to another owner. | Use a subaccount of the owner.',
    subaccount_not_under_manager:
      "400 | The subaccount is under another margin manager than the market's. | Use an account of margin_manager_address of the market entry.",
    account_unreadable:
      '500 | The chain could not be asked about the subaccount. | Retry the same order; nothing was placed.',
    market_unreadable:
      '500 | The chain could not be asked about the market. | Retry the same order; nothing was placed.',
    position_unreadable:
      '500 | The chain could not be asked about the position. | Retry the same order; nothing was placed.',
    margin_unreadable:
      '500 | The margin cannot be read, or prices on the chain are stale. | Retry the same order; nothing was placed.',
    band_unreadable:
      '500 | The chain could not be asked about the fill band. | Retry the same order; nothing was placed.',
    trading_paused:
      '400 | The market takes nothing now; message says why. | Wait until trading_status of the market entry is open.',
    index_lag:
      '400 | The index is too far from a sample from outside, or there is no sample. | Wait; resting orders and cancels are not affected.',
    trading_ended: '400 | The last trade time of the series has passed. | Trade the next series.',
    index_stale:
      '400 | The index of the series is stale, so that the chain refuses every fill. | Wait until the index updates.',
    outside_fill_band:
      '400 | The chain would refuse every fill at this price. | Take a price within detail.fill_band_low and fill_band_high.',
    insufficient_margin:
      '400 | The margin or the balance for the fee does not carry the whole order. | Add collateral, or order less.',
    reduce_only_no_position:
      '400 | There is no position to reduce. | Leave reduce_only out to open one.',
    reduce_only_same_side: '400 | The order would enlarge the position. | Take the other side.',
    open_order_limit:
      '400 | The account has as many live orders in the market as open_order_limit allows. | Cancel one, and place the order again with a new id and nonce.',
    signer_order_limit:
      '400 | The signer is code (a contract or a delegated key) whose matches have not yet paid fees above their gas, and the owner has 20 live orders or more in the market. | Cancel one, or wait until one fills, and place the order again with a new id and nonce.',
    post_only_would_cross:
      '422 | A post-only order would take liquidity. | Place it behind the best price of the other side, or with slide, with a new id and nonce.',
    duplicate_order_id:
      '409 | order_id is taken. Of a repeat of the same signed order, order has the first; otherwise detail.held_by says which order has the id. | Read the order; choose another id for another order.',
    duplicate_nonce:
      '409 | The owner has used the nonce. | Read the order; choose another nonce for another order.',
    too_many_orders:
      '500 | The owner sends more orders than the operator allows. | Wait for Retry-After; RateLimit-Remaining of every answer says what is left. Cancels are never limited.',
    overloaded: '500 | Too much waits; nothing was placed. | Retry the same order.',
    outcome_unknown:
      '500, 502 | No answer came in time, or the market has not decided the same order yet; it may have been placed, and may still fill. | Send the same order again after Retry-After: an order_id is taken once.',
  },
  'Cancels and look-ups': {
    active_order_not_found:
      '404 | No order of the owner with this nonce is active. | Look the order up; it may be filled or ended.',
    replacement_filled_amount:
      '400 | A replacement has a filled_amount. | Leave it out; what the replaced order has filled is counted by the market.',
    replacement_unchecked:
      '500 | The chain could not be asked about the signature of a replacement. | Retry; nothing was replaced.',
    replacement_differs:
      '422 | A replacement is of another market, subaccount or side than the order that it names. | Cancel the one and place the other.',
    replacement_too_small:
      '422 | desired_amount is not above what the replaced order has filled and pending. | Read the order; sign a larger amount, with a new id and nonce.',
    replacement_ends:
      '422 | The replacement would end with its placement: it has expired, the market is closed or full, or it has nothing to reduce. | The other order stays; sign another one.',
    command_refused:
      '422 | The market could not derive what it needs of the command, and changed nothing. It is a fault of the venue, and alarmed. | Report it. A new order needs another order_id and nonce.',
    desired_amount_negative: '400 | desired_amount is negative. | Send 0 to cancel the order.',
    reduction_too_small:
      '422 | desired_amount is below what is filled and pending. | Send at least that, or 0 to cancel the rest.',
    reduction_not_smaller:
      '422 | desired_amount is above what the order asks for. | Replace the order by a larger one.',
    order_not_found:
      '404 | No such order was ever accepted, its market has not decided it yet, or it ended without a fill more than 30 days ago. | Check the id; after a placement without an answer, send that again.',
    invalid_cancel_reason:
      '400 | reason is longer than 128 characters or has control characters. | Send a short text, or leave it out.',
    cancel_target_unresolved:
      '500 | No answer came in time; the order may be cancelled. | Send the same cancel again.',
    cancel_proof_required:
      '403 | The cancel carries no proof of its owner. | Send a signed cancel, or the X-Service-Auth frame.',
    cancel_not_owner: "403 | The proof is another owner's. | Sign with the owner's key.",
    cancel_proof_expired: '403 | The signed cancel has expired. | Sign a fresh one.',
    cancel_proof_invalid:
      "403 | The signature is not the signer's over this cancel. | Compare with /v1/signing-vectors.json.",
    cancel_proof_unreadable:
      '500 | The chain could not be asked about the proof. | Retry; nothing was cancelled.',
    cancel_frame_invalid:
      '403 | X-Service-Auth proves no owner; the text says why. | Sign a fresh frame.',
    cancel_proof_early:
      '403 | issued_at is ahead of the venue’s clock. | Compare the clock with /v1/time.',
    cancel_proof_too_long:
      '400 | The signed cancel of many orders is valid for more than 60 seconds. | Sign an earlier expiry.',
    cancel_proof_used:
      '403 | The signed cancel of many orders was used before. | Sign a new one, with another expiry.',
    cancel_proof_use_unknown:
      '500 | The use of the proof could not be noted; nothing was cancelled. | Send a new proof.',
    invalid_issued_at:
      '400 | issued_at is not an integer. | Send unix seconds as a number, or as digits.',
    unknown_field:
      '400 | A cancel of all orders has a field that it does not know; a misspelt market would cancel in all. | Correct or remove the field that the text names.',
    invalid_order_ids:
      '400 | order_ids is not a list of 1 to 200 order ids. | Send the ids as strings, at most 200 at once.',
    invalid_seconds:
      '400 | seconds is out of range. | Send 10 to 86400, or 0 to disarm the dead-man switch.',
    order_of_another_owner:
      '403 | Of one order of a cancel of many: it is another owner’s. | Cancel it as its owner.',
    invalid_lease_id:
      '400 | lease_id is none that cancel_on_disconnect names. | Send the lease_id of the open socket.',
    lease_ended:
      '409 | The lease has ended, and the orders under it are cancelled. | Ask for another one.',
    too_many_leases:
      '500 | The market has too many leases, or too many of owners who have never placed an order. | Retry later, or after the first order; nothing was set.',
    protected_namespace:
      "403 | The order's id begins with a prefix that only its service may cancel. | Cancel it as that service.",
  },
  'Deposits and withdrawals': {
    action_expired: '400 | The action has expired. | Sign a fresh one.',
    action_expiry_too_far:
      "400 | The action's expiry is more than one hour ahead. | Sign an earlier expiry.",
    amount_not_explicit:
      '400 | The amount is the sentinel for the whole balance. | Sign the amount.',
    amount_not_positive: '400 | The amount of a withdrawal is 0. | Sign an amount above 0.',
    subaccount_zero: '400 | A withdrawal names subaccount 0. | Name the subaccount to pay out of.',
    signer_not_owner: "400 | The action is signed by a session key. | Sign with the owner's key.",
    invalid_action_data:
      '400 | action.data has another length or form than the module takes. | Encode it as the text says.',
    asset_not_depositable: '400 | The asset is not the perp cash asset. | Deposit detail.expected.',
    asset_not_withdrawable:
      '400 | The asset is none that the venue pays out. | Withdraw one of detail.withdrawable.',
    deposit_below_minimum: '400 | The deposit is below 10 USDC. | Deposit more.',
    wrong_manager:
      '400 | A new account must be opened under the perp manager. | Sign detail.expected.',
    nonce_spent: '400 | The nonce is used on the chain. | Sign with a fresh nonce.',
    not_a_perp_account:
      '400 | The subaccount is not a perp account. | Use one under the perp manager, or subaccount_id 0 to open one.',
    insufficient_balance: '400 | The wallet holds less than the deposit. | Fund the wallet first.',
    insufficient_allowance:
      '400 | The deposit module may take less than the deposit. | Approve it, or send a permit.',
    invalid_permit_signature_form:
      '400 | permit.signature is not hex. | Send 0x and the bytes of the signature.',
    permit_expired: '400 | The permit has expired. | Sign a fresh one.',
    permit_too_small:
      '400 | The permit is for less than the deposit. | Sign a permit for at least the amount.',
    permit_refused:
      "400 | USDC refuses the permit. | Sign a fresh one, with the token's nonce of now.",
    '<kind>_in_progress':
      '429 | Another transfer of the owner is under way. | Wait until it is settled.',
    'too_many_<kind>_requests':
      '429 | Too many requests of the owner in a minute. | Wait for Retry-After.',
    too_many_deposits: '429 | Too many submitted deposits in an hour. | Wait for Retry-After.',
    '<kind>_would_revert':
      '422 | The transfer would revert on chain; revert names why. | See the name of the revert; often the margin or the balance.',
    '<kind>_rejected':
      '422, 503 | The transfer was rejected before anything was sent. | Send it again when the cause is gone.',
    chain_unreadable:
      '503 | The chain cannot be asked about the transfer. | Retry shortly; nothing was submitted.',
    '<kind>s_paused_<cause>':
      "503 | The gas of the venue is below its reserve, or the hour's budget is spent. | Retry later.",
    '<kind>s_off': '503 | The deployment takes no such transfers. | Use the contracts directly.',
    '<kind>s_unavailable':
      '503 | The submitter does not answer. | Retry shortly; nothing was submitted.',
    '<kind>_unknown':
      '502 | It is not known whether the transfer was submitted. | Send the same request again before you sign another.',
    '<kind>_record_unreadable': '503 | The record cannot be read now. | Retry shortly.',
    '<kind>_not_found': '404 | No transfer has this action_hash. | Check the hash.',
    invalid_action_hash: '400 | action_hash is not a hash. | Send 0x and 64 hex digits.',
  },
  Reads: {
    unknown_market:
      '400 | The identifier names no listed market, or none was sent; markets lists them. | Send symbol, or asset_address and sub_id.',
    invalid_depth: '400 | depth is not a positive integer. | Send one, or leave it out.',
    invalid_limit: '400 | limit is outside of 1 to 100. | Send a number within.',
    invalid_before_trade_id:
      '400 | before_trade_id is not a positive integer. | Send next_before_trade_id of the page before.',
    invalid_interval:
      '400 | The interval is none that candles have. | Send 1m, 5m, 15m, 1h, 4h or 1d.',
    invalid_candles_limit: '400 | limit is outside of 1 to 1000. | Send a number within.',
    invalid_start: '400 | start is not an RFC 3339 time. | Send a time like 2026-11-21T10:00:00Z.',
    invalid_end: '400 | end is not an RFC 3339 time. | Send a time like 2026-11-21T10:00:00Z.',
    end_not_after_start: '400 | end is not after start. | Exchange them.',
    invalid_before:
      '400 | before is not a cursor of this endpoint. | Send next_before of the page before.',
    subaccount_id_required: '400 | subaccount_id is missing. | Send it.',
    invalid_subaccount_id: '400 | subaccount_id is not an integer. | Send its digits.',
    permit_nonce_unreadable: '502 | The chain could not be asked. | Retry.',
    no_marks: '400 | The market has no mark price. | Ask for a perpetual or a future.',
    no_funding: '400 | The market has no funding. | Ask for a perpetual.',
    positions_unreadable: '502 | The chain could not be asked. | Retry.',
    invalid_subaccount_ids:
      '400 | subaccount_id of balances is empty, too long a list, or holds no integers. | Send 1 to 20 whole numbers, separated by commas.',
    subaccount_not_owned:
      '403 | The account is not in the custody of the matching contract for the address of the frame. | Sign the frame with its owner’s key.',
    balances_unreadable: '502 | The chain could not be asked. | Retry.',
    balances_unavailable: '503 | The feed does not answer. | Retry after the Retry-After header.',
    accounts_behind: '503 | The index still reads the chain. | Retry after some seconds.',
    accounts_unavailable: '503 | The chain reader does not answer. | Retry shortly.',
    invalid_levels_depth:
      '400 | depth of the levels is not one of those that the channel has. | Send 10, 25, 100 or 500.',
    invalid_listed_depth: '400 | depth is outside of 0 to 1000. | Send a number within.',
    invalid_listed_limit: '400 | limit is outside of 0 to 500. | Send a number within.',
    invalid_type: '400 | type is neither buy nor sell. | Send one of them, or leave it out.',
    invalid_resolution:
      '400 | The resolution is none that charts have. | Send 1, 5, 15, 60, 240 or 1D.',
    invalid_from: '400 | from is not a unix time. | Send whole seconds.',
    invalid_to: '400 | to is not a unix time. | Send whole seconds.',
    invalid_countback: '400 | countback is not a positive integer. | Send one, or leave it out.',
    invalid_search:
      '400 | query, type or exchange is sent more than once. | Send each once, or leave it out.',
    invalid_search_limit: '400 | limit is outside of 1 to 100. | Send a number within.',
    invalid_status: '400 | status of the order history is not open. | Send open, or leave it out.',
    filter_needs_status_open:
      '400 | The order history is filtered by market or subaccount without status=open. | Send status=open too.',
    invalid_start_time: '400 | start_time is not a unix time. | Send milliseconds or seconds.',
    invalid_end_time:
      '400 | end_time is not a unix time, or not after start_time. | Send a later time in milliseconds or seconds.',
    auth_required: '401 | The read is private and has no frame. | Send the X-Service-Auth frame.',
    auth_malformed:
      "401 | The header is not base64url of JSON. | Encode the frame's JSON as base64url.",
    auth_failed:
      "401 | The frame proves no owner; the text says why. | Sign the exact text of /v1/venue with the owner's key, or with a session key that signer_address names, and a fresh expiry.",
    session_key_ended:
      '401 | The frame is signed by a key that is no session key of its address, or not any more. | Register the key on the matching contract, or sign as the owner; /v1/accounts lists the keys.',
    session_key_unreadable:
      '503 | It is not known whether the key of the frame is a session key. | Retry in a moment, or sign as the owner.',
  },
  ...venueErrorCodes,
} as const satisfies CodeTable

type CodeTable = Readonly<Record<string, Readonly<Record<string, string>>>>
type Groups = typeof ERROR_CODES

/** A code of an error body; a word in angle brackets stands for one of several. */
export type ErrorName = { [Group in keyof Groups]: keyof Groups[Group] }[keyof Groups]

/** A code as the documents show it; the codes of the WebSocket have no status. */
export interface ErrorCode {
  readonly code: string
  /** HTTP statuses with which it comes. */
  readonly status: string
  readonly cause: string
  readonly cure: string
}

/** Codes of error bodies, by the kind of request. */
export const errorCodes: ReadonlyMap<string, readonly ErrorCode[]> = new Map(
  Object.entries<CodeTable[string]>(ERROR_CODES).map(([group, rows]) => [
    group,
    Object.entries(rows).map(([code, row]) => {
      const [status = '', cause = '', cure = ''] = row.split(' | ')
      return { code, status, cause, cure }
    }),
  ]),
)

/** Codes of `error` frames. */
export const socketCodes: readonly ErrorCode[] = Object.entries(SOCKET_CODES).map(([code, row]) => {
  const [cause = '', cure = ''] = row.split(' | ')
  return { code, status: '', cause, cure }
})
