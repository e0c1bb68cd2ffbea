import type { OrderBody } from '../support/builders.js'
import { NOW_MS } from './good-orders.js'
import {
  each,
  INVALID_JSON,
  noAddress,
  noInteger,
  noSignature,
  noText,
  required,
  rule,
  set,
  setAction,
  shown,
  valuesOf,
  type Change,
  type Rule,
} from './rule.js'

const nowSec = NOW_MS / 1_000

const REQUIRED = [
  ...['order_id', 'asset_address', 'nonce', 'limit_price', 'desired_amount', 'signature'],
  ...['owner_address', 'signer_address', 'subaccount_id', 'recipient_id', 'worst_fee', 'side'],
]

const inItsPrototype: Change<OrderBody> = (body) =>
  JSON.stringify({ ...body, order_id: undefined }).replace('{', '{"__proto__":{"order_id":"x"},')

const present: readonly Rule<OrderBody>[] = [
  rule(
    INVALID_JSON,
    each(['{"order_id":', '', '[]', 'null', '7', '"x"', 'true'], (text) => [
      `the body ${text}`,
      () => text,
    ]),
  ),
  ...REQUIRED.map((field) =>
    rule<OrderBody>(required(field), {
      ...valuesOf(field, [undefined, '', null]),
      ...(field === 'order_id' && { 'order_id in the prototype': inItsPrototype }),
    }),
  ),
]

const integers = (field: string, values: readonly unknown[]): Rule<OrderBody>[] =>
  values.map((value) => rule(noInteger(field, value), valuesOf(field, [value])))

// MON-004
const notIntegers = ['0x10', ' 12 ', '+5', '0b11', '1e3', '1.0', '-1', '12n', `${2n ** 256n}`]

const orderIds = (reason: string, values: readonly unknown[]): Rule<OrderBody>[] => [
  rule(['invalid_order_id', `order_id ${reason}`, 'order_id'], valuesOf('order_id', values)),
]

const identity: readonly Rule<OrderBody>[] = [
  rule(noText('order_id'), valuesOf('order_id', [5, {}])),
  // ORD-015
  ...orderIds('must be 1 to 128 characters', [
    ...['x'.repeat(129), '\u{1f4a5}'.repeat(129), ' '.repeat(60_000)],
  ]),
  // ORD-016
  ...orderIds('must not be . or .., which a path takes for a directory', ['.', '..']),
  ...orderIds('must not be blank', [' ', '   ', '\u00a0\u3000', '\u2028']),
  ...orderIds(
    'must not have control, format, invisible or bidirectional characters, line separators, or unpaired surrogates',
    [
      ...['a\u0000', '\u0000', 'a\r\nb', 'a\u009f', 'a\ud800', '\ud800', '\udc00\ud800'],
      ...['a\u00adb', 'a\u200bb', 'a\u202eb', '\u2066a\u2069', '\u061ca', '\u{e0041}'],
      // Line separators; letters and marks that show nothing.
      ...[
        'a\u2028b',
        'a\u2029b',
        '\u3164',
        'a\uffa0',
        'a\u115fb',
        'a\u034fb',
        'a\ufe0f',
        '\u{e0100}a',
      ],
    ],
  ),
  ...integers('nonce', [...notIntegers, 9007199254740992]),
  // MON-009
  ...integers('sub_id', ['abc', '1.5', `${2n ** 96n}`]),
  ...integers('worst_fee', ['0.5']),
  ...integers('subaccount_id', ['7.0']),
  ...integers('recipient_id', ['0x7']),
  ...['owner_address', 'signer_address'].map((field) =>
    rule<OrderBody>(
      noAddress(field),
      valuesOf(field, ['0x12', `0x${'g'.repeat(40)}`, '12'.repeat(21), 7]),
    ),
  ),
  rule(
    // AUT-008
    noSignature('signature', 'invalid_signature_form'),
    valuesOf('signature', [
      ...['abc', '0xzz', '0x123', '1234', '0x', `0x${'00'.repeat(4_097)}`],
      ...[5, [...'0x00']],
    ]),
  ),
]

const expiry: readonly Rule<OrderBody>[] = [
  rule(
    ['expiry_past', 'expiry must be in the future', 'expiry'],
    valuesOf('expiry', [nowSec, nowSec - 1, 0, -5, undefined, null]),
  ),
  rule(['invalid_expiry', 'expiry must be an integer', 'expiry'], {
    ...valuesOf('expiry', ['1893456000', 1893456000.5, 2 ** 63, true]),
    'expiry 1e400': (body) => JSON.stringify(body).replace(/"expiry":\d+/, '"expiry":1e400'),
  }),
  rule(
    ['action_expiry_past', 'action_json.expiry must be in the future', 'action_json.expiry'],
    each(['1', `${nowSec}`], (expiry) => [`signed ${expiry}`, setAction({ expiry })]),
  ),
]

const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`

const action: readonly Rule<OrderBody>[] = [
  rule(['invalid_action_json', 'action_json must be valid JSON', 'action_json'], {
    ...valuesOf('action_json', ['{', '{"owner":', '"text"', '[]', 7, [], undefined]),
    'nested 30,000 deep': set({ action_json: deep }),
  }),
  rule(required('action_json.subaccount_id'), {
    none: setAction({ subaccount_id: undefined }),
    'beside 30,000 levels': set({ action_json: `{"nonce":${deep}}` }),
  }),
  ...['nonce', 'module', 'data', 'expiry', 'owner', 'signer'].map((name) => {
    return rule<OrderBody>(required(`action_json.${name}`), {
      none: setAction({ [name]: undefined }),
    })
  }),
  ...['subaccount_id', 'nonce', 'expiry'].flatMap((name) =>
    [1, '0x1'].map((value) =>
      rule<OrderBody>(noInteger(`action_json.${name}`, value), {
        [`a signed ${name} ${shown(value)}`]: setAction({ [name]: value }),
      }),
    ),
  ),
  ...['module', 'owner', 'signer'].map((name) => {
    return rule<OrderBody>(noAddress(`action_json.${name}`), {
      short: setAction({ [name]: '0x12' }),
    })
  }),
]

/** What is refused before a body is compared with a market. */
export const fieldRules: readonly Rule<OrderBody>[] = [
  ...present,
  ...identity,
  ...expiry,
  ...action,
]
