import {
  changeRefusals,
  reductionNotSmaller,
  reductionTooSmall,
} from '../../core/entry/order-refusals.js'
import { amountE18, E18 } from '../../core/money.js'
import { goodCancel } from './cancels.js'
import { engine } from './good-orders.js'
import { INVALID_JSON, noDecimal, noInteger, required, rule, valuesOf, type Rule } from './rule.js'
import type { Stated } from './stated.js'

/** A reduction in form; it names no order that is there. */
export const goodReduction = { ...goodCancel, desired_amount: '1' }

/** What a reduction is refused for besides what a cancel is refused for. */
export const reductionRules: readonly Rule<object>[] = [
  rule(required('desired_amount'), valuesOf('desired_amount', [undefined, null, ''])),
  rule(['desired_amount_negative', 'desired_amount cannot be negative', 'desired_amount'], {
    ...valuesOf('desired_amount', ['-1', '-0.5']),
  }),
  ...['1e3', '0.0000000000000000001', 7].map((amount) =>
    rule(noDecimal('desired_amount', amount), valuesOf('desired_amount', [amount])),
  ),
]

/** A replacement in form. */
export const goodReplacement = { ...engine, replaces_nonce: '7' }

/** What a replacement is refused for before its order is read. */
export const replacementRules: readonly Rule<object>[] = [
  rule(INVALID_JSON, { 'a list': () => '[]', 'a text that is cut': () => '{"replaces_nonce":' }),
  rule(required('replaces_nonce'), valuesOf('replaces_nonce', [undefined, null, ''])),
  ...['0x7', 7, '-1'].map((nonce) =>
    rule(noInteger('replaces_nonce', nonce), valuesOf('replaces_nonce', [nonce])),
  ),
  rule(
    [
      // CAN-046
      'replacement_filled_amount',
      'filled_amount must be 0 or absent in a replacement: the market counts what the replaced order has filled',
      'filled_amount',
    ],
    valuesOf('filled_amount', ['1', '-1', 'x', 0]),
  ),
]

/** A rule of orders for the order of a replacement. */
export const ofReplacement = <Good>(orders: Rule<Good>): Rule<Good> => ({
  ...orders,
  when: Object.fromEntries(
    Object.entries(orders.when).map(([name, change]) => [
      name,
      (good) => {
        const body = change(good)
        const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
        return isObject ? { ...body, replaces_nonce: '7' } : body
      },
    ]),
  ),
})

/** What a batch is refused for as such. */
export const batchRules: readonly Rule<object>[] = [
  rule(INVALID_JSON, { 'a list': () => '[]', 'a text that is cut': () => '{"orders":' }),
  rule(required('orders'), valuesOf('orders', [undefined, null])),
  rule(
    // ORD-073
    ['invalid_orders', 'orders must be a list of 1 to 20 orders', 'orders'],
    valuesOf('orders', [[], {}, 'x', 1, Array<object>(21).fill({})]),
  ),
]

export const goodBatch = { orders: [engine] }

export const statedOfChanges: readonly Stated[] = [
  [
    changeRefusals.replacementUnchecked,
    500,
    'replacement_unchecked',
    'the chain could not be asked about the signature: nothing was replaced, safe to retry',
  ],
  [
    changeRefusals.replacementDiffers,
    422,
    'replacement_differs',
    'the replacement must be of the market, the subaccount and the side of the order that it replaces',
  ],
  [
    changeRefusals.replacementTooSmall,
    422,
    'replacement_too_small',
    'desired_amount must be above what the replaced order has filled and pending',
  ],
  [
    changeRefusals.replacementEnds,
    422,
    'replacement_ends',
    'the replacement would end with its placement: the order that it replaces stays',
  ],
  [
    changeRefusals.commandRefused,
    422,
    'command_refused',
    'the market cannot carry this out and has changed nothing: please report it',
  ],
  [
    reductionTooSmall(amountE18(4n * E18)),
    422,
    'reduction_too_small',
    'desired_amount must be 0 or at least 4, which is filled or pending',
  ],
  [
    reductionNotSmaller(amountE18(5n * E18)),
    422,
    'reduction_not_smaller',
    'desired_amount must be at most 5, which the order asks for now',
  ],
]
