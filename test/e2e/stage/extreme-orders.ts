import type { Market } from '../../../core/model/market.js'
import { formatDecimal } from '../../../core/decimal.js'
import type { Hex } from '../../../core/action.js'
import type { Side } from '../../../core/model/order.js'
import {
  signedOrderBody,
  type OrderBody,
  type OrderTerms,
  type SigningDomain,
} from '../../support/builders.js'

/** An account that trades in a market, and usual terms there that meet no other order. */
export interface ExtremeDesk {
  readonly market: Market
  readonly privateKey: Hex
  readonly subaccountId: bigint
  readonly price: Readonly<Record<Side, string>>
  readonly amount: string
}

const UINT256_MAX = 2n ** 256n - 1n

/**
 * Unix seconds. From 8,640,000,000,001 on there is no such date; from 9,007,199,254,741 on its milliseconds are not exact
 * number, which once stopped a market for good.
 */
export const EXTREME_EXPIRIES: readonly number[] = [
  ...[2 ** 31 - 1, 2 ** 31, 2 ** 32, 253_402_300_799, 8_640_000_000_000, 8_640_000_000_001],
  ...[9_007_199_254_740, 9_007_199_254_750, 9_007_199_254_751, 1e15, 2 ** 53 - 1],
]

/** Of every plane of Unicode that has characters, some of them as long as an id may be. */
const ids = (tag: string): readonly string[] => [
  ...['\u{1f4a5}', '\u{10fffd}', '\u{20000}', '\u{30000}', '\u{f0000}', '\u00e9', '\uffff'].map(
    (character) => `${character.repeat(128 - Array.from(tag).length)}${tag}`,
  ),
  ...[`../${tag}`, `${tag}?x=1#y`, `%2e%2e%2f${tag}`, `"${tag}'`, `${tag}\\`, ` ${tag} `],
]

let made = 0

/**
 * Orders that are signed for real, at the extremes of each of their fields. Most are valid. `tag` makes their ids and nonces
 * others than those of other calls; at most 40 characters.
 */
export async function extremeOrders(
  { market, privateKey, subaccountId, price, amount }: ExtremeDesk,
  domain: SigningDomain,
  tag: string,
): Promise<OrderBody[]> {
  const tick = formatDecimal(market.tickSize, 18)
  const least = formatDecimal(market.minSize, 18)
  const changes: OrderTerms[] = [
    ...EXTREME_EXPIRIES.map((expirySec) => ({ expirySec })),
    { expirySec: 9_007_199_254_751, side: 'sell', price: price.sell },
    { actionExpirySec: UINT256_MAX },
    { expirySec: 2 ** 53 - 1, actionExpirySec: UINT256_MAX },
    { actionExpirySec: 9_007_199_254_751n },
    ...[tick, `1${'0'.repeat(15)}`, `1${'0'.repeat(40)}`].flatMap((each) => [
      { side: 'buy' as const, price: each, amount: least },
      { side: 'sell' as const, price: each, amount: least },
    ]),
    ...[least, `1${'0'.repeat(15)}`, `1${'0'.repeat(40)}`].map((each) => ({ amount: each })),
    ...[0n, 1n, 2n ** 53n, UINT256_MAX].map((worstFee) => ({ worstFee })),
    ...ids(tag).map((orderId) => ({ orderId })),
  ]
  return Promise.all(
    changes.map((change, at) => {
      made += 1
      const nonce = at % 2 === 0 ? UINT256_MAX - BigInt(made) : BigInt(made)
      const usual = { side: 'buy' as const, price: price.buy, amount, worstFee: UINT256_MAX }
      const own = { market, privateKey, subaccountId, domain, orderId: `${tag}-${at}`, nonce }
      return signedOrderBody({ ...own, ...usual, ...change })
    }),
  )
}
