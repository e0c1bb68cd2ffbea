import { expect } from 'chai'
import type { Json } from './client.js'

/** What a field of a record has to look like: an exact value, a pattern of a string, or a test. */
export type Look = string | number | boolean | RegExp | ((value: unknown) => boolean)

export const DECIMAL = /^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/
export const INTEGER_TEXT = /^(0|[1-9][0-9]*)$/
export const ADDRESS = /^0x[0-9a-f]{40}$/
export const HEX = /^0x([0-9a-fA-F]{2})+$/
export const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const TEXT = /^.+$/
export const HASH = /^0x[0-9a-f]{64}$/
export const isInteger = (value: unknown): boolean => Number.isInteger(value)
export const isNumber = (value: unknown): boolean => typeof value === 'number'
export const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every field is there and looks so; fields beyond them are the venue's own business. */
export function expectShape(record: unknown, looks: Readonly<Record<string, Look>>): void {
  expect(isObject(record), `an object, not ${JSON.stringify(record)}`).to.equal(true)
  for (const [field, look] of Object.entries(looks))
    expectLook((record as Json)[field], look, field)
}

function expectLook(value: unknown, look: Look, field: string): void {
  if (look instanceof RegExp) {
    expect(value, field).to.be.a('string')
    expect(value, field).to.match(look)
  } else if (typeof look === 'function') {
    expect(look(value), `${field} ${JSON.stringify(value)}`).to.equal(true)
  } else expect(value, field).to.equal(look)
}

/** The error body of the interface: `error` first and a string, and the request's id in body and header. */
export function expectError(
  answer: { readonly status: number; readonly headers: Headers; readonly body: Json },
  status: number,
  error: string | RegExp,
): void {
  expect(answer.body.error, JSON.stringify(answer.body)).to.be.a('string')
  if (typeof error === 'string') expect(answer.body.error).to.equal(error)
  else expect(answer.body.error).to.match(error)
  expect(answer.status, error.toString()).to.equal(status)
  expect(Object.keys(answer.body)[0]).to.equal('error')
  expect(answer.body.code).to.match(/^[a-z][a-z0-9_]*$/)
  expect(answer.body.request_id).to.equal(answer.headers.get('x-request-id'))
}

/** Market entry of a spot market, field by field. */
export const SPOT_ENTRY: Readonly<Record<string, Look>> = {
  market: 'cNGN-USDC',
  contract_type: 'spot',
  settlement_type: 'spot',
  base_asset_symbol: 'USDC',
  quote_asset_symbol: 'cNGN',
  display_name: TEXT,
  display_label: TEXT,
  tick_size: '0.000000000000000001',
  min_size: '0.000001',
  contract_multiplier: '1',
  settlement_note: TEXT,
  asset_address: ADDRESS,
  sub_id: '0',
  pricing_model: 'linear',
  price_semantics: 'linear',
  display_price_kind: 'direct',
  display_semantics: 'direct',
  order_entry_spec: 'cngn_usdc_spot_v1',
  ui_price_unit: TEXT,
  ui_size_unit: TEXT,
  ui_side_meaning: TEXT,
  engine_price_unit: TEXT,
  engine_amount_unit: TEXT,
  engine_side_policy: 'invert_ui_side',
  ui_price_to_engine: 'engine_price = 1 / ui_price',
  ui_size_to_engine: 'engine_amount = ui_size * ui_price',
  taker_fee_bps: 25,
  maker_fee_bps: 0,
  trade_module_address: ADDRESS,
  quote_asset_address: ADDRESS,
  margin_manager_address: ADDRESS,
}

/** What an order record copies from its market. */
export const COPIED_FROM_MARKET = [
  'market',
  'contract_type',
  'settlement_type',
  'base_asset_symbol',
  'quote_asset_symbol',
  'display_name',
  'display_label',
  'tick_size',
  'price_semantics',
  'display_semantics',
] as const

/** Order record with the fields that the venue adds to every one. */
export const ORDER: Readonly<Record<string, Look>> = {
  order_id: TEXT,
  owner_address: ADDRESS,
  signer_address: ADDRESS,
  subaccount_id: INTEGER_TEXT,
  recipient_id: INTEGER_TEXT,
  nonce: INTEGER_TEXT,
  side: /^(buy|sell)$/,
  asset_address: ADDRESS,
  sub_id: INTEGER_TEXT,
  desired_amount: DECIMAL,
  filled_amount: DECIMAL,
  limit_price: DECIMAL,
  worst_fee: INTEGER_TEXT,
  expiry: isInteger,
  action_json: isObject,
  signature: HEX,
  status: /^(active|matching|filled|cancelled|expired)$/,
  created_at: ISO,
  open_amount: DECIMAL,
  pending_amount: DECIMAL,
  spot_contract: isObject,
}

/** Trade record of the trades endpoint. */
export const TRADE: Readonly<Record<string, Look>> = {
  trade_id: isInteger,
  market: 'cNGN-USDC',
  asset_address: ADDRESS,
  sub_id: '0',
  price: DECIMAL,
  size: DECIMAL,
  aggressor_side: /^(buy|sell)$/,
  taker_order_id: TEXT,
  maker_order_id: TEXT,
  created_at: ISO,
  contract_type: 'spot',
  settlement_type: 'spot',
  spot_contract: isObject,
  tx_hash: HASH,
}
