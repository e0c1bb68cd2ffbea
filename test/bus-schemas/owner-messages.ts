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
import {
  decodeSessionKeysAnswer,
  decodeSessionKeysQuestion,
  encodeSessionKeysAnswer,
  encodeSessionKeysQuestion,
} from '../../bus-schemas/owner-accounts.js'
import { amountE18, priceE18 } from '../../core/money.js'
import { anyText } from '../support/arbitraries.js'
import { arbitraryAddress } from '../support/actions.js'
import { message, type Declared } from './declared.js'

/** What the gateway asks the fan-out, and both the chain reader, about owners' accounts, orders and keys, and the answers. */
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
        market: fc.string(),
        orderId: anyText,
        owner: fc.constant(`0x${'a1'.repeat(20)}`),
        rest: fc.record({
          subaccountId: fc.bigInt({ min: 0n, max: 10n ** 30n }),
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
  message(
    'session keys question',
    fc.record({
      keys: fc.array(fc.record({ owner: arbitraryAddress, key: arbitraryAddress }), {
        maxLength: 4,
      }),
    }),
    { encode: encodeSessionKeysQuestion, decode: decodeSessionKeysQuestion },
  ),
  message(
    'session keys answer',
    fc.record(
      { endsSec: fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), { maxLength: 4 }) },
      { requiredKeys: [] },
    ),
    { encode: encodeSessionKeysAnswer, decode: decodeSessionKeysAnswer },
  ),
]
