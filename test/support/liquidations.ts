import fc from 'fast-check'
import type { Hex } from '../../core/action.js'
import type {
  Liquidation,
  LiquidationNews,
  LiquidationPlace,
} from '../../core/contracts/liquidation.js'
import { E18, priceE18 } from '../../core/money.js'
import { anyText } from './arbitrary-values.js'

/** A word of 32 bytes. */
const wordOf = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`

/** A bid on the perpetual in a block of this number, whose hash is its number. */
export const aLiquidation = ({
  block,
  ...fields
}: { readonly block: number } & Partial<Liquidation>): Liquidation => ({
  market: 'cNGN-PERP',
  event: 'bid',
  subaccountId: 7n,
  size: 1_000n * E18,
  price: priceE18(650_000_000_000_000n),
  portion: E18 / 2n,
  bySubaccountId: 9n,
  paid: 3n * E18,
  received: 0n,
  txHash: wordOf(block + 0x1_000),
  blockHash: wordOf(block),
  logIndex: 3,
  blockNumber: BigInt(block),
  blockTimeSec: 1_790_000_000 + 2 * block,
  ...fields,
})

const hash: fc.Arbitrary<Hex> = fc
  .bigInt({ min: 0n, max: 2n ** 256n - 1n })
  .map((value): Hex => `0x${value.toString(16).padStart(64, '0')}`)
const uint = fc.bigInt({ min: 0n, max: 2n ** 128n })
const place: fc.Arbitrary<LiquidationPlace> = fc.record({
  market: anyText,
  blockHash: hash,
  logIndex: fc.nat(),
})

/** Any news of liquidations. */
export const anyLiquidationNews: fc.Arbitrary<LiquidationNews> = fc.record({
  takenBack: fc.array(place, { maxLength: 4 }),
  added: fc.array(
    fc
      .record(
        {
          place,
          event: fc.constantFrom(
            ...(['auction_started', 'insolvent_auction_started', 'bid'] as const),
            ...(['auction_ended', 'takeover'] as const),
          ),
          subaccountId: uint,
          size: fc.bigInt({ min: -(2n ** 128n), max: 2n ** 128n }),
          price: uint.map(priceE18),
          portion: uint,
          bySubaccountId: uint,
          paid: uint,
          received: uint,
          txHash: hash,
          blockNumber: uint,
          blockTimeSec: fc.nat(),
        },
        {
          requiredKeys: [
            ...(['place', 'event', 'subaccountId', 'txHash', 'blockNumber'] as const),
            'blockTimeSec',
          ],
        },
      )
      .map(({ place: at, ...fields }): Liquidation => ({ ...at, ...fields })),
    { maxLength: 4 },
  ),
})
