import fc from 'fast-check'
import { actsOf, placed, type MarketAct } from './market-commands.js'

const settleCode = fc.record({
  act: fc.constant('settle' as const),
  pick: fc.nat(500),
  outcome: fc.constantFrom(
    ...(['success', 'success', 'success', 'maker', 'taker', 'both', 'unclear', 'unclear'] as const),
  ),
  gas: fc.constantFrom(undefined, 0, 1, 2, 8, 30),
  // No unnamed revert: that of two pairs of plain keys holds the market, and the naive one knows no such hold.
  revert: fc.constantFrom('OV_InvalidSignature', 'OutOfGas', 'TM_PriceTooLow'),
})

/** Random market days of several owners, of whom some sign by code, with what settlements cost. */
export const codeActs = (maxLength: number): fc.Arbitrary<MarketAct[]> =>
  actsOf(maxLength, [
    { weight: 8, arbitrary: fc.record({ ...placed, byCode: fc.boolean() }) },
    { weight: 8, arbitrary: settleCode },
    {
      weight: 1,
      arbitrary: fc.record({
        act: fc.constant('signature' as const),
        pick: fc.nat(500),
        valid: fc.constant(true),
        byCode: fc.constant(true),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        act: fc.constant('wait' as const),
        sec: fc.constantFrom(600, 3_600, 86_400, 200_000),
      }),
    },
  ])
