import { expect } from 'chai'
import type { TradeData } from '../../core/action.js'
import { decodeTradeData, encodeTradeData } from '../../core/trade-data.js'
import { aFuture, aPerp, signedIntentBody, signedOrderBody } from '../support/builders.js'
import type { OrderBody } from '../support/builders.js'
import { checkTimeMs, refused } from '../support/order-checks.js'

type Fields = Record<string, unknown>
/** Name, what is changed in a good body (undefined removes a field), and the answer. */
type Row = readonly [name: string, change: Fields, message: string]

const nowSec = checkTimeMs / 1000
const engine = await signedOrderBody()
const intent = await signedIntentBody({ side: 'buy', price: '1530', size: '100' })
const perp = await signedIntentBody(
  { side: 'buy', price: '0.00065', size: '10' },
  { market: aPerp() },
)
const future = await signedOrderBody({ market: aFuture(), price: '1530', amount: '3' })

const action = (fields: Fields, body: OrderBody = engine): Fields => ({
  action_json: { ...body.action_json, ...fields },
})
const words = (fields: Partial<TradeData>): Fields => {
  const decoded = decodeTradeData(engine.action_json.data ?? '')
  if ('refusal' in decoded) throw new Error(decoded.refusal.message)
  return action({ data: encodeTradeData({ ...decoded.data, ...fields }) })
}
const uiIntent = (fields: Fields): Fields => ({ ui_intent: { ...intent.ui_intent, ...fields } })

const fieldRows: readonly Row[] = [
  ...[
    ...['order_id', 'asset_address', 'nonce', 'limit_price', 'desired_amount', 'signature'],
    ...['owner_address', 'signer_address', 'subaccount_id', 'recipient_id', 'worst_fee', 'side'],
  ].flatMap((name): Row[] => [
    [`no ${name}`, { [name]: undefined }, `${name} is required`],
    [`empty ${name}`, { [name]: '' }, `${name} is required`],
    [`null ${name}`, { [name]: null }, `${name} is required`],
  ]),
  ['order_id a number', { order_id: 5 }, 'order_id must be a string'],
  ...['x'.repeat(129), 'a\u0000', 'a\r\nb', 'a\ud800'].map((id, index): Row => [
    `unfit order_id ${index}`,
    { order_id: id },
    'order_id must be 1 to 128 characters of well-formed text without control characters',
  ]),
  ...['0x10', ' 12 ', '+5', '0b11', '1e3', '1.0', '-1', '12n', (2n ** 256n).toString()].map(
    (nonce): Row => [
      `nonce ${nonce}`,
      { nonce },
      `invalid integer value for nonce: expected a string of base-10 digits in range, got "${nonce}"`,
    ],
  ),
  [
    'nonce a number',
    { nonce: 9007199254740993 },
    'invalid integer value for nonce: expected a string of base-10 digits in range, got a JSON number',
  ],
  ...['abc', '1.5', (2n ** 96n).toString()].map((subId): Row => [
    `sub_id ${subId}`,
    { sub_id: subId },
    `invalid integer value for sub_id: expected a string of base-10 digits in range, got "${subId}"`,
  ]),
  [
    'worst_fee a decimal',
    { worst_fee: '0.5' },
    'invalid integer value for worst_fee: expected a string of base-10 digits in range, got "0.5"',
  ],
  [
    'owner_address short',
    { owner_address: '0x12' },
    'owner_address must be 0x followed by 40 hex digits',
  ],
  [
    'signature not hex',
    { signature: 'abc' },
    'signature must be 0x-prefixed hex of at most 4096 bytes',
  ],
  [
    'signature too long',
    { signature: `0x${'00'.repeat(4097)}` },
    'signature must be 0x-prefixed hex of at most 4096 bytes',
  ],
  ...[nowSec, nowSec - 1, 0, -5, undefined, null].map((expiry): Row => [
    `expiry ${expiry}`,
    { expiry },
    'expiry must be in the future',
  ]),
  ...['1893456000', 1893456000.5, Infinity, 2 ** 63].map((expiry): Row => [
    `expiry ${typeof expiry} ${expiry}`,
    { expiry },
    'expiry must be an integer',
  ]),
  ['action expired', action({ expiry: `${nowSec}` }), 'action_json.expiry must be in the future'],
  ...['{', '"text"', '[]', 7, [], undefined].map((value): Row => [
    `action_json ${JSON.stringify(value)}`,
    { action_json: value },
    'action_json must be valid JSON',
  ]),
  ['action without data', action({ data: undefined }), 'action_json.data is required'],
  [
    'action nonce a number',
    action({ nonce: 1 }),
    'invalid integer value for action_json.nonce: expected a string of base-10 digits in range, got a JSON number',
  ],
  [
    'action module short',
    action({ module: '0x12' }),
    'action_json.module must be 0x followed by 40 hex digits',
  ],
  ['data a number', action({ data: 5 }), 'decode action_json.data: expected a hex string'],
  ...['BUY', 'hold', true, 1].map((side): Row => [
    `side ${side}`,
    { side },
    'side must be buy or sell',
  ]),
  [
    'unknown asset',
    { asset_address: `0x${'77'.repeat(20)}` },
    'asset_address must match a configured instrument',
  ],
  ['asset no address', { asset_address: 5 }, 'asset_address must match a configured instrument'],
  ['other sub_id', { sub_id: '1' }, 'asset_address must match a configured instrument'],
  ['disabled market', { asset_address: `0x${'c9'.repeat(20)}` }, 'unknown market'],
]

const decimalText = (field: string, shown: string): string =>
  `invalid decimal value for ${field}: expected a string like "12.5" with at most 18 decimals, got ${shown}`

const amountRows: readonly Row[] = [
  ...[
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
  ].flatMap((value): Row[] => [
    [
      `limit_price ${value}`,
      { limit_price: value },
      decimalText('limit_price', JSON.stringify(value)),
    ],
    [
      `desired_amount ${value}`,
      { desired_amount: value },
      decimalText('desired_amount', JSON.stringify(value)),
    ],
  ]),
  ['limit_price a number', { limit_price: 0.00065 }, decimalText('limit_price', 'a JSON number')],
  [
    'limit_price of 100,000 digits',
    { limit_price: '1'.repeat(100_000) },
    decimalText('limit_price', `"${'1'.repeat(80)}…"`),
  ],
  ...['0', '0.000', '-1'].flatMap((value): Row[] => [
    [`limit_price ${value}`, { limit_price: value }, 'limit_price must be greater than zero'],
    [
      `desired_amount ${value}`,
      { desired_amount: value },
      'desired_amount must be greater than zero',
    ],
  ]),
  ['amount below a step', { desired_amount: '0.0000009' }, 'normalized atomic size is 0'],
  [
    'amount off the step',
    { desired_amount: '1.0000005' },
    'invalid amount step: desired_amount must be a multiple of 0.000001',
  ],
  ['filled_amount negative', { filled_amount: '-1' }, 'filled_amount cannot be negative'],
  [
    'filled_amount beyond desired',
    { filled_amount: '153000.000001' },
    'filled_amount cannot exceed desired_amount',
  ],
  [
    'filled_amount off the step',
    { filled_amount: '0.0000001' },
    'invalid amount step: filled_amount must be a multiple of 0.000001',
  ],
  ['filled_amount a number', { filled_amount: 0 }, decimalText('filled_amount', 'a JSON number')],
  [
    'a notional beyond int256',
    { limit_price: '1'.repeat(25), desired_amount: '1'.repeat(25) },
    'limit_price times desired_amount is more than the chain can hold',
  ],
]

const translationRows: readonly Row[] = [
  [
    'only the spec',
    { ui_intent: undefined },
    'ui_intent is required when order_entry_spec is provided',
  ],
  [
    'only the intent',
    { order_entry_spec: undefined },
    'order_entry_spec is required when ui_intent is provided',
  ],
  [
    'another spec',
    { order_entry_spec: 'usdc_cngn_spot_v1' },
    'order_entry_spec must be "cngn_usdc_spot_v1" for this market\'s ui_intent',
  ],
  ['intent a list', { ui_intent: [] }, 'ui_intent must be an object'],
  ['no side anywhere', uiIntent({ side: undefined }), "ui_intent.side must be 'buy' or 'sell'"],
  ['side in capitals', uiIntent({ side: 'BUY' }), "ui_intent.side must be 'buy' or 'sell'"],
  ['no price', uiIntent({ price: undefined }), 'ui_intent.price is required'],
  ['price zero', uiIntent({ price: '0' }), 'ui_intent.price must be greater than zero'],
  ['price negative', uiIntent({ price: '-3' }), 'ui_intent.price must be greater than zero'],
  ['size zero', uiIntent({ size: '0.0' }), 'ui_intent.size must be greater than zero'],
  ['size a number', uiIntent({ size: 100 }), decimalText('ui_intent.size', 'a JSON number')],
  ['other side', { side: 'buy' }, 'side does not match ui_intent translation'],
  [
    'other price',
    { limit_price: '0.000653594771241832' },
    'limit_price does not match ui_intent translation',
  ],
  [
    'other amount',
    { desired_amount: '153000.000001' },
    'desired_amount does not match ui_intent translation',
  ],
  ['tiny size', uiIntent({ price: '0.1', size: '0.000001' }), 'normalized atomic size is 0'],
  [
    'a price without a reciprocal',
    uiIntent({ price: '9'.repeat(20), size: '1' }),
    'limit_price must be greater than zero',
  ],
]

const signedRows: readonly Row[] = [
  [
    'subaccount',
    action({ subaccount_id: '8' }),
    'action_json.subaccount_id must match subaccount_id',
  ],
  ['nonce', action({ nonce: '2' }), 'action_json.nonce must match nonce'],
  [
    'owner',
    action({ owner: `0x${'12'.repeat(20)}` }),
    'action_json.owner must match owner_address',
  ],
  [
    'signer',
    action({ signer: `0x${'12'.repeat(20)}` }),
    'action_json.signer must match signer_address',
  ],
  ['recipient', { recipient_id: '8' }, 'recipient_id must equal subaccount_id'],
  [
    'module',
    action({ module: `0x${'e2'.repeat(20)}` }),
    `action_json.module must be the market's trade_module_address 0x${'e1'.repeat(20)}`,
  ],
  [
    'six words',
    action({ data: engine.action_json.data?.slice(0, -64) }),
    'expected encoded TradeData tuple',
  ],
  ['no hex', action({ data: '0xzz' }), 'decode action_json.data: not a hex digit'],
  ['capital prefix', action({ data: '0X00' }), 'decode action_json.data: missing 0x prefix'],
  [
    'a flag of 2',
    action({ data: `${engine.action_json.data?.slice(0, -1)}2` }),
    'action_json.data invariant check failed: isBid is neither 0 nor 1',
  ],
  [
    'asset',
    words({ asset: `0x${'c2'.repeat(20)}` }),
    'action_json.data.asset must match asset_address',
  ],
  ['sub id', words({ subId: 1n }), 'action_json.data.subId must match sub_id'],
  ['flag', words({ isBid: false }), 'action_json.data.isBid must match side'],
  [
    'recipient word',
    words({ recipientId: 8n }),
    'action_json.data.recipientId must match recipient_id',
  ],
  ['fee word', words({ worstFee: 8n }), 'action_json.data.worstFee must match worst_fee'],
  ...[0n, -1n, -(2n ** 255n)].flatMap((value): Row[] => [
    [
      `price ${value}`,
      words({ limitPrice: value }),
      'action_json.data.limitPrice must be positive',
    ],
    [
      `amount ${value}`,
      words({ desiredAmount: value }),
      'action_json.data.desiredAmount must be positive',
    ],
  ]),
  ...[650_000_000_000_001n, 1_300_000_000_000_000n].map((limitPrice): Row => [
    `price ${limitPrice}`,
    words({ limitPrice }),
    'action_json.data.limitPrice is not aligned with normalized limit_price',
  ]),
  [
    'amount by one unit',
    words({ desiredAmount: 153_000n * 10n ** 18n + 1n }),
    'action_json.data.desiredAmount is not aligned with normalized desired_amount',
  ],
  [
    'body price in wei',
    { limit_price: '650000000000000' },
    'action_json.data.limitPrice is not aligned with normalized limit_price',
  ],
  ['reduce_only on spot', { reduce_only: true }, 'reduce_only is not supported on this market'],
  ['reduce_only a text', { reduce_only: 'yes' }, 'reduce_only must be a boolean'],
]

const groups: readonly (readonly [string, OrderBody, readonly Row[]])[] = [
  ['fields', engine, fieldRows],
  ['numbers', engine, amountRows],
  ['translation', intent, translationRows],
  ['signed data', engine, signedRows],
]

describe('validateOrder refuses', () => {
  for (const [group, good, rows] of groups) {
    describe(group, () => {
      for (const [name, change, message] of rows) {
        it(`${name}: ${message}`, () => {
          expect(refused({ ...good, ...change })).to.include({ status: 400, message })
        })
      }
    })
  }

  it('bodies that are no object', () => {
    for (const body of [[], null, 7, 'x', true, undefined]) {
      expect(refused(body).message).to.equal('invalid JSON body')
    }
  })

  it('an order_id that only a prototype holds', () => {
    const text = JSON.stringify({ ...engine, order_id: undefined })
    const body: unknown = JSON.parse(`{"__proto__":{"order_id":"x"},${text.slice(1)}`)
    expect(refused(body).message).to.equal('order_id is required')
    expect(refused(Object.create(engine)).message).to.equal('order_id is required')
  })

  it('an intent on a market that takes none', () => {
    const entered = { order_entry_spec: 'cngn_usdc_spot_v1', ui_intent: intent.ui_intent }
    for (const part of [entered, { ...entered, ui_intent: null }, { ui_intent: {} }]) {
      expect(refused({ ...future, ...part }).message).to.equal(
        'order_entry_spec and ui_intent are only supported for the spot usdc/cngn contract',
      )
    }
  })

  it('the spot spec and a retired one on a perpetual', () => {
    for (const spec of ['cngn_usdc_spot_v1', 'usdc_cngn_perp_v1']) {
      expect(refused({ ...perp, order_entry_spec: spec }).message).to.equal(
        'order_entry_spec must be "cngn_usdc_perp_v1" for this market\'s ui_intent',
      )
    }
  })

  it('the spot module on a perpetual', () => {
    const module = engine.action_json.module
    expect(refused({ ...perp, ...action({ module }, perp) }).code).to.equal('wrong_module')
  })

  it('a fraction of a contract on a future', () => {
    expect(refused({ ...future, desired_amount: '1.5' }).message).to.equal(
      'invalid amount step: desired_amount must be a multiple of 1',
    )
  })
})

describe('refusals of orders help', () => {
  it('with the nearest steps', () => {
    expect(refused({ ...engine, desired_amount: '1.0000005' })).to.deep.include({
      field: 'desired_amount',
      detail: { step: '0.000001', nearest: { below: '1', above: '1.000001' } },
    })
    expect(refused({ ...engine, filled_amount: '0.0000001' }).detail).to.deep.equal({
      step: '0.000001',
      nearest: { above: '0.000001' },
    })
  })

  it('with the signed and the expected word', () => {
    const { detail } = refused({ ...engine, limit_price: '0.00066' })
    expect(detail).to.include({ expected: '660000000000000', signed: '650000000000000' })
  })

  it('with the translation that the venue makes', () => {
    expect(refused({ ...intent, limit_price: '1' }).detail).to.deep.equal({
      expected: '0.00065359477124183',
    })
  })
})
