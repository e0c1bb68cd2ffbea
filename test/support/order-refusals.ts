import {
  type Json,
  type SignedBody,
  asJson,
  drop,
  otherAddress,
  set,
  setAction,
} from './order-changes.js'
import { type OrderRefusal, each, shown } from './refusal-row.js'
import { signedRefusals } from './signed-refusals.js'

const INVALID_JSON = 'invalid JSON body'

const theBody: readonly OrderRefusal[] = [
  ...each(['{"order_id":', '', '[]', 'null', '7', '"x"'], (text) => ({
    what: `the body ${text === '' ? 'empty' : text}`,
    change: () => text,
    error: INVALID_JSON,
  })),
  {
    what: 'ui_intent nested 20,000 deep',
    change: () => `{"ui_intent":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    error: INVALID_JSON,
  },
  {
    what: 'order_id only in __proto__',
    change: (body) =>
      JSON.stringify(drop('order_id')(body)).replace('{', '{"__proto__":{"order_id":"x"},'),
    error: 'order_id is required',
  },
]

const required: readonly OrderRefusal[] = each(
  [
    'order_id',
    'asset_address',
    'nonce',
    'limit_price',
    'desired_amount',
    'signature',
    'owner_address',
    'signer_address',
    'subaccount_id',
    'recipient_id',
    'worst_fee',
    'side',
  ] as const,
  (field) => ({ what: `no ${field}`, change: drop(field), error: `${field} is required` }),
)

const identity: readonly OrderRefusal[] = [
  { what: 'an empty order_id', change: set({ order_id: '' }), error: 'order_id is required' },
  ...each(['x'.repeat(129), 'a\u0000b', 'a\r\nb', '\ud800'], (order_id) => ({
    what: `order_id ${shown(order_id)}`,
    change: set({ order_id }),
    error: 'order_id must be 1 to 128 characters of well-formed text without control characters',
  })),
  { what: 'order_id a number', change: set({ order_id: 7 }), error: 'order_id must be a string' },
  ...each(
    ['0x10', ' 12 ', '+5', '0b11', '1e3', '1.0', '-1', '12n', (2n ** 256n).toString(), 2 ** 53],
    (nonce) => ({
      what: `nonce ${shown(nonce)}`,
      change: set({ nonce }),
      error: /^invalid integer value for nonce: expected a string of base-10 digits in range, got /,
    }),
  ),
  ...each(['abc', '1.5', (2n ** 96n).toString()], (sub_id) => ({
    what: `sub_id ${sub_id}`,
    change: set({ sub_id }),
    error: /^invalid integer value for sub_id: /,
  })),
  ...each(['0x12', `0x${'g'.repeat(40)}`, '12'.repeat(21)], (owner_address) => ({
    what: `owner_address ${owner_address.slice(0, 8)}`,
    change: set({ owner_address }),
    error: 'owner_address must be 0x followed by 40 hex digits',
  })),
]

const expiry: readonly OrderRefusal[] = [
  ...each([0, -1], (offset) => ({
    what: `expiry now ${offset}`,
    change: (body: SignedBody, nowSec: number) => set({ expiry: nowSec + offset })(body),
    error: 'expiry must be in the future',
  })),
  { what: 'expiry 0', change: set({ expiry: 0 }), error: 'expiry must be in the future' },
  { what: 'no expiry', change: drop('expiry'), error: 'expiry must be in the future' },
  ...each(['1893456000', 1.5, 2 ** 63, true], (value) => ({
    what: `expiry ${shown(value)}`,
    change: set({ expiry: value }),
    error: 'expiry must be an integer',
  })),
  {
    what: 'expiry 1e400',
    change: (body) => JSON.stringify(body).replace(/"expiry":\d+/, '"expiry":1e400'),
    error: 'expiry must be an integer',
  },
  {
    what: 'a signed expiry in the past',
    change: setAction({ expiry: '1' }),
    error: 'action_json.expiry must be in the future',
  },
]

const terms: readonly OrderRefusal[] = [
  ...each(['BUY', 'hold', true], (side) => ({
    what: `side ${shown(side)}`,
    change: set({ side }),
    error: 'side must be buy or sell',
  })),
  {
    what: 'an unknown instrument',
    change: set({ asset_address: otherAddress }),
    error: 'asset_address must match a configured instrument',
  },
  ...each(
    [
      '1e5',
      'Infinity',
      'NaN',
      '1_000',
      '１２',
      '0x1',
      ' 1',
      '.5',
      '5.',
      '--1',
      `0.${'1'.repeat(19)}`,
      '9'.repeat(60_000),
      1,
    ],
    (limit_price) => ({
      what: `limit_price ${shown(limit_price)}`,
      change: set({ limit_price }),
      error:
        /^invalid decimal value for limit_price: expected a string like "12.5" with at most 18 decimals, got /,
    }),
  ),
  ...each(['0', '-1', '0.000'], (limit_price) => ({
    what: `limit_price ${limit_price}`,
    change: set({ limit_price }),
    error: 'limit_price must be greater than zero',
  })),
  ...each(['0', '-1', '0.000'], (desired_amount) => ({
    what: `desired_amount ${desired_amount}`,
    change: set({ desired_amount }),
    error: 'desired_amount must be greater than zero',
  })),
  {
    what: 'an amount below the smallest',
    change: set({ desired_amount: '0.0000001' }),
    error: 'normalized atomic size is 0',
  },
  {
    what: 'an amount between two steps',
    change: set({ desired_amount: '10.0000005' }),
    error: 'invalid amount step: desired_amount must be a multiple of 0.000001',
  },
  {
    what: 'a negative filled_amount',
    change: set({ filled_amount: '-1' }),
    error: 'filled_amount cannot be negative',
  },
  {
    what: 'more filled than desired',
    change: set({ filled_amount: '11' }),
    error: 'filled_amount cannot exceed desired_amount',
  },
  {
    what: 'reduce_only on spot',
    change: set({ reduce_only: true }),
    error: 'reduce_only is not supported on this market',
  },
  {
    what: 'reduce_only as text',
    change: set({ reduce_only: 'yes' }),
    error: 'reduce_only must be a boolean',
  },
]

const spec = 'cngn_usdc_spot_v1'
const intent = { side: 'sell', price: '10000', size: '0.001' }

const translation: readonly OrderRefusal[] = [
  {
    what: 'a spec without an intent',
    change: set({ order_entry_spec: spec }),
    error: 'ui_intent is required when order_entry_spec is provided',
  },
  {
    what: 'an intent without a spec',
    change: set({ ui_intent: intent }),
    error: 'order_entry_spec is required when ui_intent is provided',
  },
  ...each(['usdc_cngn_spot_v1', 'cngn_usdc_perp_v1', 'x'], (order_entry_spec) => ({
    what: `the spec ${order_entry_spec}`,
    change: set({ order_entry_spec, ui_intent: intent }),
    error: 'order_entry_spec must be "cngn_usdc_spot_v1" for this market\'s ui_intent',
  })),
  ...(
    [
      ['the engine’s side', { side: 'buy' }, 'side does not match ui_intent translation'],
      ['another price', { price: '10001' }, 'limit_price does not match ui_intent translation'],
      ['another size', { size: '0.002' }, 'desired_amount does not match ui_intent translation'],
      ['a side it does not know', { side: 'hold' }, "ui_intent.side must be 'buy' or 'sell'"],
      ['a price of zero', { price: '0' }, 'ui_intent.price must be greater than zero'],
      ['a negative size', { size: '-1' }, 'ui_intent.size must be greater than zero'],
    ] as const
  ).map(([what, change, error]) => ({
    what: `an intent with ${what}`,
    change: set({ order_entry_spec: spec, ui_intent: { ...intent, ...change } }),
    error,
  })),
]

/** Every refusal of an order that its body alone can earn on the spot market, in the order of the checks; all 400. */
export const orderRefusals: readonly OrderRefusal[] = [
  ...theBody,
  ...required,
  ...identity,
  ...expiry,
  ...terms,
  ...translation,
  ...signedRefusals,
]

/** The same order, accepted: what looks unusual and is not wrong. */
export const harmless: readonly {
  readonly what: string
  readonly change: (body: SignedBody) => Json
}[] = [
  { what: 'as it came', change: asJson },
  {
    what: 'with addresses in another case',
    change: (body) =>
      setAction({ owner: body.owner_address.toLowerCase() })({
        ...body,
        owner_address: body.owner_address.toLowerCase(),
      }),
  },
  { what: 'without sub_id', change: drop('sub_id') },
  { what: 'with null for none', change: set({ ui_intent: null, order_entry_spec: '' }) },
  { what: 'with fields nobody knows', change: set({ more: { of: 'it' } }) },
  {
    what: 'with its action as text',
    change: (body) => set({ action_json: JSON.stringify(body.action_json) })(body),
  },
  { what: 'with SQL for an id', change: set({ order_id: "'; DROP TABLE orders;--" }) },
  { what: 'with a subject for an id', change: set({ order_id: 'a.*.>' }) },
]
