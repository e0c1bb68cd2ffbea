import fc from 'fast-check'
import {
  decodeKnownOrdersAnswer,
  decodeKnownOrdersQuestion,
  decodeSettlementQuestion,
  decodeSettlementVerdict,
  encodeKnownOrdersAnswer,
  encodeKnownOrdersQuestion,
  encodeSettlementQuestion,
  encodeSettlementVerdict,
} from '../../bus-schemas/settlements.js'
import { priceE18, quoteE18 } from '../../core/money.js'
import { anyText } from '../support/arbitraries.js'
import { message, type Declared } from './declared.js'

const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const address = fc.constant(`0x${'a1'.repeat(20)}` as const)
const kindOf = <Kind extends string>(kind: Kind) => fc.constant(kind)

/** What the executor asks before it settles a match, and the answers. */
export const settlementMessages: readonly Declared[] = [
  message(
    'settlement question',
    fc.record(
      {
        settlementId: anyText,
        actions: fc.array(
          fc.record({
            subaccountId: uint,
            nonce: uint,
            expiry: uint,
            module: address,
            owner: address,
            signer: address,
            data: fc.constantFrom('0x' as const, '0xab12' as const),
          }),
        ),
        takerFee: uint.map(quoteE18),
        fills: fc.array(fc.record({ amount: uint, price: uint.map(priceE18) })),
      },
      { requiredKeys: ['actions', 'takerFee', 'fills'] },
    ),
    { encode: encodeSettlementQuestion, decode: decodeSettlementQuestion },
  ),
  message(
    'settlement verdict',
    fc.oneof(
      fc.record({ kind: kindOf('pending') }),
      fc.record({ kind: kindOf('left'), unknown: fc.array(fc.nat()) }),
      fc.record({ kind: kindOf('later') }),
      fc.record({ kind: kindOf('refused'), field: anyText, message: anyText }),
    ),
    { encode: encodeSettlementVerdict, decode: decodeSettlementVerdict },
  ),
  message(
    'known orders question',
    fc.record({ orders: fc.array(fc.record({ owner: address, nonce: uint })) }),
    { encode: encodeKnownOrdersQuestion, decode: decodeKnownOrdersQuestion },
  ),
  message('known orders answer', fc.record({ known: fc.array(fc.boolean()) }), {
    encode: encodeKnownOrdersAnswer,
    decode: decodeKnownOrdersAnswer,
  }),
]
