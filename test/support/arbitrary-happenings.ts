import fc from 'fast-check'
import type { Happening } from './random-history.js'

const index = fc.nat({ max: 40 })

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('place' as const),
      side: fc.constantFrom('buy' as const, 'sell' as const),
      price: fc.integer({ min: 95, max: 105 }),
      size: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      index,
      success: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'cancel' as const,
        'expire' as const,
        'hold' as const,
        'release' as const,
      ),
      index,
    }),
  },
)

/** Things that happen to a market, few enough prices that orders cross often. */
export const happenings = fc.array(happening, { maxLength: 120 })
