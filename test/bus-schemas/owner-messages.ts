import fc from 'fast-check'
import {
  decodeBalancesAnswer,
  decodeBalancesQuestion,
  decodeOrderFactsAnswer,
  decodeOrderFactsQuestion,
  encodeBalancesAnswer,
  encodeBalancesQuestion,
  encodeOrderFactsAnswer,
  encodeOrderFactsQuestion,
} from '../../bus-schemas/account-facts.js'
import { amountE18, priceE18 } from '../../core/money.js'
import { anyText } from '../support/arbitraries.js'
import { message, type Declared } from './declared.js'

/** What the gateway asks the fan-out about owners' accounts and orders, and the answers. */
export const ownerMessages: readonly Declared[] = [
  message(
    'balances question',
    fc.record(
      {
        owner: fc.constant(`0x${'a1'.repeat(20)}`),
        accounts: fc.array(fc.bigInt({ min: 0n, max: 10n ** 30n })),
        after: fc.array(fc.record({ market: fc.string(), seq: fc.nat() })),
      },
      { requiredKeys: ['owner', 'after'] },
    ),
    { encode: encodeBalancesQuestion, decode: decodeBalancesQuestion },
  ),
  message(
    'balances answer',
    fc.oneof(
      fc.record({ body: fc.json() }),
      fc.record({ failed: fc.constantFrom('behind', 'unreadable', 'not_owned') }),
    ),
    { encode: encodeBalancesAnswer, decode: decodeBalancesAnswer },
  ),
  message(
    'order facts question',
    fc.record(
      {
        ...{ market: fc.string(), orderId: anyText },
        owner: fc.constant(`0x${'a1'.repeat(20)}`),
        rest: fc.record({
          ...{ subaccountId: fc.bigInt({ min: 0n, max: 10n ** 30n }) },
          side: fc.constantFrom('buy' as const, 'sell' as const),
          price: fc.bigInt({ min: 0n }).map(priceE18),
          amount: fc.bigInt({ min: 0n }).map(amountE18),
        }),
        after: fc.array(fc.record({ market: fc.string(), seq: fc.nat() })),
      },
      { requiredKeys: ['market', 'orderId', 'owner', 'after'] },
    ),
    { encode: encodeOrderFactsQuestion, decode: decodeOrderFactsQuestion },
  ),
  message('order facts answer', fc.record({ body: fc.json() }, { requiredKeys: [] }), {
    encode: encodeOrderFactsAnswer,
    decode: decodeOrderFactsAnswer,
  }),
]
