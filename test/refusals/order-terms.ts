import type { OrderBody } from '../support/builders.js'
import { future, intent, perpetual } from './good-orders.js'
import {
  each,
  noDecimal,
  notPositive,
  of,
  required,
  rule,
  set,
  shown,
  valuesOf,
  type Json,
  type Rule,
} from './rule.js'

type OrderRule = Rule<OrderBody>

const SPOT_SPEC = 'cngn_usdc_spot_v1'
const NONE = `0x${'77'.repeat(20)}`

const instrument: readonly OrderRule[] = [
  rule(['invalid_side', 'side must be buy or sell', 'side'], {
    ...valuesOf('side', ['BUY', 'hold', true, 1]),
  }),
  rule(
    ['unknown_instrument', 'asset_address must match a configured instrument', 'asset_address'],
    { ...valuesOf('asset_address', [NONE, 5, '0x00']), ...valuesOf('sub_id', ['1']) },
  ),
  rule(['market_disabled', 'unknown market', 'asset_address'], {
    'a market that is not enabled': set({ asset_address: `0x${'c9'.repeat(20)}` }),
  }),
]

/** An intent with these fields instead. */
const entered = (fields: Json) => of(intent, set({ ui_intent: { ...intent.ui_intent, ...fields } }))
/** One change of the order entered as an intent for each value of a field. */
const ofIntent = (field: string, values: readonly unknown[]): OrderRule['when'] =>
  each(values, (value) => [`${field} ${shown(value)}`, of(intent, set({ [field]: value }))])

const notDecimals = [
  ...['1e5', 'Infinity', 'NaN', '1_000', '１２', '0x1', ' 1', '.5', '5.', '--1', '10 ', '+1'],
  ...['1'.repeat(60_000), 0.00065],
]
const NINETEEN_DECIMALS = `0.${'1'.repeat(19)}`
const decimals = (field: string, values: readonly unknown[]): OrderRule[] =>
  values.map((value) => rule(noDecimal(field, value), valuesOf(field, [value])))

// MON-005
const ZEROS = ['0', '0.000', '-1', '-0']

const offStep = (field: string, step: string): [string, string, string] => [
  'invalid_amount_step',
  `invalid amount step: ${field} must be a multiple of ${step}`,
  field,
]

const offTick = (tick: string, when: OrderRule['when']): OrderRule => ({
  ...rule(['price_off_tick', `price must align to tick size ${tick}`, 'limit_price'], when),
  detail: { tick_size: tick },
})

const amounts: readonly OrderRule[] = [
  ...decimals('limit_price', notDecimals),
  ...decimals('limit_price', [`0.${'1'.repeat(78)}`, `1.${'1'.repeat(18)}e1`]),
  ...decimals('desired_amount', [...notDecimals, NINETEEN_DECIMALS]),
  ...decimals('filled_amount', [0, '1e1']),
  offTick(
    '0.000000000000000001',
    valuesOf('limit_price', [
      ...[NINETEEN_DECIMALS, '0.0000000000000000001', `1.${'0'.repeat(19)}`],
    ]),
  ),
  rule(notPositive('limit_price'), {
    ...valuesOf('limit_price', [...ZEROS, `0.${'0'.repeat(19)}`]),
    'an intent whose price has no reciprocal': entered({ price: '9'.repeat(20), size: '1' }),
  }),
  rule(notPositive('desired_amount'), valuesOf('desired_amount', ZEROS)),
  {
    // ORD-047
    ...rule<OrderBody>(['size_below_minimum', 'normalized atomic size is 0', 'desired_amount'], {
      ...valuesOf('desired_amount', ['0.0000009']),
      'an intent below a step': entered({ price: '0.1', size: '0.000001' }),
    }),
    detail: { min_size: '0.000001' },
  },
  {
    ...rule<OrderBody>(
      offStep('desired_amount', '0.000001'),
      valuesOf('desired_amount', ['1.0000005']),
    ),
    // ORD-046
    detail: { step: '0.000001', nearest: { below: '1', above: '1.000001' } },
  },
  {
    ...rule<OrderBody>(
      offStep('filled_amount', '0.000001'),
      valuesOf('filled_amount', ['0.0000001']),
    ),
    detail: { step: '0.000001', nearest: { above: '0.000001' } },
  },
  rule(
    ['filled_amount_negative', 'filled_amount cannot be negative', 'filled_amount'],
    valuesOf('filled_amount', ['-1']),
  ),
  rule(
    // ORD-048
    ['filled_amount_exceeds', 'filled_amount cannot exceed desired_amount', 'filled_amount'],
    valuesOf('filled_amount', ['153000.000001']),
  ),
  rule(
    [
      // MON-012
      'notional_out_of_range',
      'limit_price times desired_amount is more than the chain can hold',
      'desired_amount',
    ],
    { 'beyond int256': set({ limit_price: '1'.repeat(25), desired_amount: '1'.repeat(25) }) },
  ),
]

const wrongSpec = (spec: string, when: OrderRule['when']): OrderRule => ({
  ...rule(
    [
      'wrong_order_entry_spec',
      `order_entry_spec must be "${spec}" for this market's ui_intent`,
      'order_entry_spec',
    ],
    when,
  ),
  detail: { expected: spec },
})

/** The translation of an order that buys 100 USDC at 1530, entered as an intent on the spot market. */
const translation: readonly OrderRule[] = [
  rule(
    // ORD-051
    ['ui_intent_missing', 'ui_intent is required when order_entry_spec is provided', 'ui_intent'],
    ofIntent('ui_intent', [undefined, null]),
  ),
  rule(
    [
      'order_entry_spec_missing',
      'order_entry_spec is required when ui_intent is provided',
      'order_entry_spec',
    ],
    ofIntent('order_entry_spec', [undefined, '']),
  ),
  wrongSpec(
    SPOT_SPEC,
    // ORD-052
    ofIntent('order_entry_spec', ['usdc_cngn_spot_v1', 'cngn_usdc_perp_v1', 'x']),
  ),
  rule(['invalid_ui_intent', 'ui_intent must be an object', 'ui_intent'], {
    ...ofIntent('ui_intent', [[], 'buy']),
  }),
  rule(['invalid_ui_intent_side', "ui_intent.side must be 'buy' or 'sell'", 'ui_intent.side'], {
    'no side anywhere': entered({ side: undefined }),
    'in capitals': entered({ side: 'BUY' }),
    'of another word': entered({ side: 'hold' }),
  }),
  ...['price', 'size'].flatMap((name) => {
    const field = `ui_intent.${name}`
    return [
      rule<OrderBody>(required(field), { none: entered({ [name]: undefined }) }),
      rule<OrderBody>(notPositive(field), {
        zero: entered({ [name]: '0.0' }),
        'below zero': entered({ [name]: '-3' }),
      }),
      rule<OrderBody>(noDecimal(field, 100), {
        'a number': entered({ [name]: 100 }),
      }),
    ]
  }),
  rule(['side_mismatch', 'side does not match ui_intent translation', 'side'], {
    'the side of the intent': of(intent, set({ side: 'buy' })),
  }),
  {
    ...rule<OrderBody>(
      ['limit_price_mismatch', 'limit_price does not match ui_intent translation', 'limit_price'],
      ofIntent('limit_price', ['0.000653594771241832', '1']),
    ),
    detail: { expected: '0.00065359477124183' },
  },
  {
    ...rule<OrderBody>(
      [
        'desired_amount_mismatch',
        'desired_amount does not match ui_intent translation',
        'desired_amount',
      ],
      ofIntent('desired_amount', ['153000.000001']),
    ),
    detail: { expected: '153000' },
  },
]

/** Orders of a market whose spec is another, or which has none. */
const otherMarkets: readonly OrderRule[] = [
  wrongSpec(
    'cngn_usdc_perp_v1',
    each(['cngn_usdc_spot_v1', 'usdc_cngn_perp_v1'], (order_entry_spec) => [
      `${order_entry_spec} on the perpetual`,
      of(perpetual, set({ order_entry_spec })),
    ]),
  ),
  rule(
    [
      'translation_unsupported',
      'order_entry_spec and ui_intent are only supported for the spot usdc/cngn contract',
      'order_entry_spec',
    ],
    {
      both: of(future, set({ order_entry_spec: SPOT_SPEC, ui_intent: intent.ui_intent })),
      'the spec alone': of(future, set({ order_entry_spec: SPOT_SPEC, ui_intent: null })),
      'the intent alone': of(future, set({ ui_intent: {} })),
    },
  ),
  {
    ...offTick('0.5', {
      'a price between two ticks': of(future, set({ limit_price: '1530.3' })),
      'a price of nineteen decimals': of(future, set({ limit_price: `1530.${'3'.repeat(19)}` })),
    }),
    detail: { tick_size: '0.5', nearest: { below: '1530', above: '1530.5' } },
  },
  rule(offStep('desired_amount', '1'), {
    'a fraction of a contract': of(future, set({ desired_amount: '1.5' })),
  }),
]

/** Instrument, price, amounts and translation of an order. */
export const termRules: readonly OrderRule[] = [
  ...instrument,
  ...amounts,
  ...translation,
  ...otherMarkets,
]
