import fc from 'fast-check'
import type { Address, Hex } from '../../core/action.js'
import type { OrderStatus, Side } from '../../core/model/order.js'

/** fast-check generators of single values, of every size. */

export const MAX_UINT256 = 2n ** 256n - 1n
const MARKETS = ['cNGN-USDC', 'cNGN-PERP', 'USDC-cNGN-30NOV26']

export const anyUint = fc.bigInt({ min: 0n, max: MAX_UINT256 })
/** Amounts as they occur, with the extremes mixed in. */
export const anyAmount = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 30n }), anyUint)
export const anyMs = fc.integer({ min: 0, max: 4_102_444_800_000 })
export const anySec = fc.integer({ min: 0, max: 4_102_444_800 })
export const anySeq = fc.integer({ min: 1, max: 2 ** 40 })
export const anySide = fc.constantFrom<Side>('buy', 'sell')
export const anyStatus = fc.constantFrom<OrderStatus>(
  'active',
  'matching',
  'filled',
  'cancelled',
  'expired',
)
export const anyMarketName = fc.constantFrom(...MARKETS)
/** Client-chosen text: anything a JSON string can hold. */
export const anyText = fc.string({ unit: 'grapheme', maxLength: 40 })

/** Mostly undefined: the value one time in eight. */
export const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })

const hexDigits = (digits: string, min: number, max: number): fc.Arbitrary<Hex> =>
  fc
    .string({ unit: fc.constantFrom(...digits), minLength: min, maxLength: max })
    .map((text): Hex => `0x${text}`)

export const anyAddress: fc.Arbitrary<Address> = hexDigits('0123456789abcdef', 40, 40)
export const anyHash: fc.Arbitrary<Hex> = hexDigits('0123456789abcdef', 64, 64)
export const anyHex: fc.Arbitrary<Hex> = hexDigits('0123456789abcdefABCDEF', 0, 200)

/** A record whose named keys are each present or absent. */
export function withOptional<T, K extends keyof T>(
  model: { [P in keyof Required<T>]: fc.Arbitrary<Exclude<T[P], undefined>> },
  optional: readonly K[],
): fc.Arbitrary<T> {
  const requiredKeys = (Object.keys(model) as (keyof T)[]).filter(
    (key) => !(optional as readonly (keyof T)[]).includes(key),
  )
  return fc.record(model, { requiredKeys })
}
