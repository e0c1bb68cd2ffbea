import { expect } from 'chai'
import * as all from '../../core/refusals.js'
import type { Refusal } from '../../core/refusals.js'

/** Every fixed refusal once: key, status, code, text on the wire. */
const fixed: readonly (readonly [keyof typeof all.refusals, number, string, string])[] = [
  ['invalidJsonBody', 400, 'invalid_json', 'invalid JSON body'],
  ['bodyTooLarge', 413, 'body_too_large', 'request body too large'],
  [
    'contentEncoding',
    415,
    'unsupported_content_encoding',
    'content-encoding is not supported: send the body uncompressed',
  ],
  ['pathNotFound', 404, 'not_found', 'no such path'],
  ['methodNotAllowed', 405, 'method_not_allowed', 'method not allowed'],
  ['internal', 500, 'internal', 'internal error'],
  [
    'outcomeUnknown',
    500,
    'outcome_unknown',
    'outcome not known: safe to retry with the same order_id',
  ],
  [
    'overloaded',
    500,
    'overloaded',
    'too many requests are waiting: nothing was placed, safe to retry',
  ],
  ['readBehind', 503, 'read_behind', 'reads are catching up: retry shortly'],
  ['actionJson', 400, 'invalid_action_json', 'action_json must be valid JSON'],
  [
    'orderIdForm',
    400,
    'invalid_order_id',
    'order_id must be 1 to 128 characters of well-formed text without control characters',
  ],
  ['expiryInteger', 400, 'invalid_expiry', 'expiry must be an integer'],
  ['expiryPast', 400, 'expiry_past', 'expiry must be in the future'],
  ['actionExpiryPast', 400, 'action_expiry_past', 'action_json.expiry must be in the future'],
  ['side', 400, 'invalid_side', 'side must be buy or sell'],
  [
    'signatureForm',
    400,
    'invalid_signature_form',
    'signature must be 0x-prefixed hex of at most 4096 bytes',
  ],
  ['instrument', 400, 'unknown_instrument', 'asset_address must match a configured instrument'],
  ['marketDisabled', 400, 'market_disabled', 'unknown market'],
  [
    'translationUnsupported',
    400,
    'translation_unsupported',
    'order_entry_spec and ui_intent are only supported for the spot usdc/cngn contract',
  ],
  [
    'uiIntentMissing',
    400,
    'ui_intent_missing',
    'ui_intent is required when order_entry_spec is provided',
  ],
  [
    'orderEntrySpecMissing',
    400,
    'order_entry_spec_missing',
    'order_entry_spec is required when ui_intent is provided',
  ],
  ['uiIntentForm', 400, 'invalid_ui_intent', 'ui_intent must be an object'],
  ['uiIntentSide', 400, 'invalid_ui_intent_side', "ui_intent.side must be 'buy' or 'sell'"],
  ['sideTranslation', 400, 'side_mismatch', 'side does not match ui_intent translation'],
  ['filledNegative', 400, 'filled_amount_negative', 'filled_amount cannot be negative'],
  ['filledExceeds', 400, 'filled_amount_exceeds', 'filled_amount cannot exceed desired_amount'],
  [
    'notionalRange',
    400,
    'notional_out_of_range',
    'limit_price times desired_amount is more than the chain can hold',
  ],
  [
    'actionSubaccount',
    400,
    'subaccount_mismatch',
    'action_json.subaccount_id must match subaccount_id',
  ],
  ['actionNonce', 400, 'nonce_mismatch', 'action_json.nonce must match nonce'],
  ['actionOwner', 400, 'owner_mismatch', 'action_json.owner must match owner_address'],
  ['actionSigner', 400, 'signer_mismatch', 'action_json.signer must match signer_address'],
  ['recipient', 400, 'recipient_not_subaccount', 'recipient_id must equal subaccount_id'],
  ['tradeDataWords', 400, 'trade_data_words', 'expected encoded TradeData tuple'],
  ['dataAsset', 400, 'data_asset_mismatch', 'action_json.data.asset must match asset_address'],
  ['dataSubId', 400, 'data_sub_id_mismatch', 'action_json.data.subId must match sub_id'],
  ['dataIsBid', 400, 'data_is_bid_mismatch', 'action_json.data.isBid must match side'],
  [
    'dataWorstFee',
    400,
    'data_worst_fee_mismatch',
    'action_json.data.worstFee must match worst_fee',
  ],
  [
    'dataRecipient',
    400,
    'data_recipient_mismatch',
    'action_json.data.recipientId must match recipient_id',
  ],
  [
    'dataPricePositive',
    400,
    'data_price_not_positive',
    'action_json.data.limitPrice must be positive',
  ],
  [
    'dataAmountPositive',
    400,
    'data_amount_not_positive',
    'action_json.data.desiredAmount must be positive',
  ],
  ['reduceOnlyForm', 400, 'invalid_reduce_only', 'reduce_only must be a boolean'],
  [
    'reduceOnlyUnsupported',
    400,
    'reduce_only_unsupported',
    'reduce_only is not supported on this market',
  ],
  [
    'sessionKey',
    400,
    'signer_not_authorized',
    'signer_address is not a registered session key of owner_address',
  ],
  ['signature', 400, 'invalid_signature', 'signature does not authorize this action'],
  [
    'tooManyUnchecked',
    500,
    'signature_unverifiable',
    'the chain cannot be asked about the signature, and too many orders of owner_address wait for that already: nothing was placed, safe to retry',
  ],
  ['duplicateOrderId', 409, 'duplicate_order_id', 'duplicate order: order_id already used'],
  ['duplicateNonce', 409, 'duplicate_nonce', 'duplicate order: nonce already used'],
  ['activeOrderNotFound', 404, 'active_order_not_found', 'active order not found'],
  [
    'cancelReasonForm',
    400,
    'invalid_cancel_reason',
    'reason must be at most 128 characters of well-formed text without control characters',
  ],
  ['cancelTarget', 500, 'cancel_target_unresolved', 'failed to resolve cancel target'],
  [
    'cancelProofRequired',
    403,
    'cancel_proof_required',
    'cancelling needs proof of ownership: a signed cancel or X-Service-Auth',
  ],
  ['cancelProofOwner', 403, 'cancel_not_owner', 'the proof does not authorize owner_address'],
  ['cancelProofExpired', 403, 'cancel_proof_expired', 'the signed cancel has expired'],
  ['cancelProofSignature', 403, 'cancel_proof_invalid', 'signature does not authorize this cancel'],
  [
    'cancelProofUnreadable',
    500,
    'cancel_proof_unreadable',
    'the chain could not be asked about the proof: nothing was cancelled, safe to retry',
  ],
  ['orderNotFound', 404, 'order_not_found', 'order not found'],
  ['depth', 400, 'invalid_depth', 'depth must be a positive integer'],
  ['pageLimit', 400, 'invalid_limit', 'limit must be between 1 and 100'],
  ['beforeTradeId', 400, 'invalid_before_trade_id', 'before_trade_id must be a positive integer'],
]

/** Every built refusal once: the value, status, code, text. */
const built: readonly (readonly [Refusal, number, string, string])[] = [
  [all.fieldRequired('order_id'), 400, 'order_id_required', 'order_id is required'],
  [
    all.invalidInteger('nonce', '0x10'),
    400,
    'invalid_integer',
    'invalid integer value for nonce: expected a string of base-10 digits in range, got "0x10"',
  ],
  [
    all.invalidDecimal('limit_price', 1.5, 18),
    400,
    'invalid_decimal',
    'invalid decimal value for limit_price: expected a string like "12.5" with at most 18 decimals, got a JSON number',
  ],
  [
    all.invalidAddress('owner_address'),
    400,
    'invalid_address',
    'owner_address must be 0x followed by 40 hex digits',
  ],
  [all.notAString('order_id'), 400, 'invalid_text', 'order_id must be a string'],
  [
    all.notPositive('ui_intent.price'),
    400,
    'ui_intent_price_not_positive',
    'ui_intent.price must be greater than zero',
  ],
  [
    all.wrongOrderEntrySpec('cngn_usdc_spot_v1'),
    400,
    'wrong_order_entry_spec',
    'order_entry_spec must be "cngn_usdc_spot_v1" for this market\'s ui_intent',
  ],
  [
    all.translationMismatch('limit_price', '1'),
    400,
    'limit_price_mismatch',
    'limit_price does not match ui_intent translation',
  ],
  [
    all.translationMismatch('desired_amount', '1'),
    400,
    'desired_amount_mismatch',
    'desired_amount does not match ui_intent translation',
  ],
  [
    all.offTick('0.01', { above: '0.02' }),
    400,
    'price_off_tick',
    'price must align to tick size 0.01',
  ],
  [
    all.offStep('desired_amount', '0.000001', { above: '1' }),
    400,
    'invalid_amount_step',
    'invalid amount step: desired_amount must be a multiple of 0.000001',
  ],
  [all.belowMinSize('0.000001'), 400, 'size_below_minimum', 'normalized atomic size is 0'],
  [
    all.wrongModule('0xee'),
    400,
    'wrong_module',
    "action_json.module must be the market's trade_module_address 0xee",
  ],
  [
    all.dataNotHex('missing 0x prefix'),
    400,
    'data_not_hex',
    'decode action_json.data: missing 0x prefix',
  ],
  [
    all.dataInvariant('isBid is neither 0 nor 1'),
    400,
    'data_invariant',
    'action_json.data invariant check failed: isBid is neither 0 nor 1',
  ],
  [
    all.notAligned('limitPrice', 'limit_price', { expected: '2', signed: '1' }),
    400,
    'data_limit_price_not_aligned',
    'action_json.data.limitPrice is not aligned with normalized limit_price',
  ],
  [
    all.notAligned('desiredAmount', 'desired_amount', { expected: '2', signed: '1' }),
    400,
    'data_desired_amount_not_aligned',
    'action_json.data.desiredAmount is not aligned with normalized desired_amount',
  ],
  [
    all.notInCustody(7n),
    400,
    'subaccount_not_in_custody',
    'subaccount_id 7 is not deposited in matching custody',
  ],
  [
    all.notSubaccountOwner(7n),
    400,
    'subaccount_not_owned',
    'subaccount_id 7 is not owned by owner_address',
  ],
  [
    all.protectedNamespace('smoke:'),
    403,
    'protected_namespace',
    'service-tagged cancels are not allowed for protected namespace "smoke:"',
  ],
  [all.unknownMarket('no such market: X', ['A']), 400, 'unknown_market', 'unknown_market'],
]

describe('refusals', () => {
  it('lists every fixed refusal here', () => {
    expect(fixed.map(([key]) => key)).to.have.members(Object.keys(all.refusals))
  })

  for (const [key, status, code, message] of fixed) {
    it(`${status} ${message}`, () => {
      expect(all.refusals[key]).to.include({ status, code, message })
    })
  }

  for (const [refusal, status, code, message] of built) {
    it(`${status} ${message}`, () => {
      expect(refusal).to.include({ status, code, message })
    })
  }

  it('gives no code to two different texts', () => {
    const codes = Object.values(all.refusals).map((refusal) => refusal.code)
    expect(new Set(codes).size).to.equal(codes.length)
  })

  it('repeats client text quoted, escaped and cut', () => {
    expect(all.quoted('a\nb\ud800')).to.equal('"a\\nb\\ud800"')
    expect(all.quoted('x'.repeat(100_000))).to.have.length(83)
    expect(all.quoted(null)).to.equal('null')
    expect(all.quoted([])).to.equal('a JSON object')
  })
})

describe('refusal body', () => {
  it('puts error first and leaves out what the refusal does not have', () => {
    const body = all.refusalBody(all.refusals.orderNotFound, 'req-1')
    expect(Object.entries(body)).to.deep.equal([
      ['error', 'order not found'],
      ['code', 'order_not_found'],
      ['request_id', 'req-1'],
    ])
  })

  it('carries field and detail', () => {
    expect(all.refusalBody(all.belowMinSize('1'), 'req-1')).to.deep.equal({
      error: 'normalized atomic size is 0',
      code: 'size_below_minimum',
      field: 'desired_amount',
      detail: { min_size: '1' },
      request_id: 'req-1',
    })
  })

  it('spreads the further fields of an unknown market', () => {
    const refusal = all.unknownMarket('symbol or asset_address is required', ['cNGN-USDC'])
    expect(all.refusalBody(refusal, 'req-1')).to.deep.equal({
      error: 'unknown_market',
      code: 'unknown_market',
      message: 'symbol or asset_address is required',
      markets: ['cNGN-USDC'],
      request_id: 'req-1',
    })
  })
})
