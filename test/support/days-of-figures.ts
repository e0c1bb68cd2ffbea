import fc from 'fast-check'
import { anyReduction, marketActs, placed, type MarketAct } from './market-commands.js'

/** Days on which much is filled in part and then replaced, reduced, or taken back by the chain. */
const busyDays: fc.Arbitrary<MarketAct[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .record({
          ...placed,
          price: fc.integer({ min: 99, max: 101 }),
          size: fc.integer({ min: 1, max: 40 }),
          livesSec: fc.constant(86_400),
          unchecked: fc.constant(false),
          controls: fc.constant({}),
          replaces: fc.oneof(
            { weight: 3, arbitrary: fc.constant(undefined) },
            { weight: 1, arbitrary: fc.nat(20) },
          ),
        })
        // Each side is one account's, so that any order of a side may replace another.
        .map((act) => ({ ...act, trader: act.buy ? 1 : 2 })),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        act: fc.constant('settle' as const),
        pick: fc.nat(20),
        outcome: fc.constantFrom('success' as const, 'success', 'success', 'taker', 'unclear'),
      }),
    },
    { weight: 1, arbitrary: anyReduction },
    {
      weight: 1,
      arbitrary: fc.record({ act: fc.constant('reverse' as const), pick: fc.nat(20) }),
    },
  ),
  { minLength: 20, maxLength: 60, size: 'max' },
)

/** Such days and usual ones. */
export const daysOfFigures = fc.oneof(
  { weight: 3, arbitrary: busyDays },
  { weight: 1, arbitrary: marketActs(40) },
)
