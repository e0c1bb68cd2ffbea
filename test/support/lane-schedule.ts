import fc from 'fast-check'
import type { Lies } from './scripted-chain.js'

/** One thing that happens to a lane and its chain. */
export type LaneHappening =
  | { readonly kind: 'take'; readonly intents: number }
  | { readonly kind: 'mine'; readonly limit: number; readonly reverting: number }
  | { readonly kind: 'empty' }
  | { readonly kind: 'reorg'; readonly depth: number; readonly keepPool: boolean }
  | { readonly kind: 'drop pool' }
  | { readonly kind: 'stranger' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'lie'; readonly lies: Partial<Lies> }
  | { readonly kind: 'fees'; readonly base: number }
  | { readonly kind: 'look'; readonly afterMs: number }

const look = fc.record({ kind: fc.constant('look' as const), afterMs: fc.nat(4_000) })

const happening: fc.Arbitrary<LaneHappening> = fc.oneof(
  { weight: 6, arbitrary: look },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      intents: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('mine' as const),
      limit: fc.integer({ min: 1, max: 4 }),
      reverting: fc.nat(3),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'empty' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 11 }),
      keepPool: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'drop pool' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('lie' as const),
      lies: fc.constantFrom<Partial<Lies>>(
        {},
        ...[{ silent: true }, { late: 1 }, { late: 3 }, { forgetful: true }, { stale: true }],
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fees' as const),
      base: fc.integer({ min: 100, max: 20_000 }),
    }),
  },
)

/** Histories in which everything goes wrong except the key, which is the lane's alone. */
export const arbitrarySchedule = fc.array(happening, { minLength: 10, maxLength: 90 })

/** The same with strangers on the key. */
export const arbitraryRobbery = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: happening },
    { weight: 1, arbitrary: fc.constant({ kind: 'stranger' as const }) },
  ),
  { minLength: 10, maxLength: 90 },
)
