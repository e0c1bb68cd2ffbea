import { expect } from 'chai'
import fc from 'fast-check'
import type { Command } from '../../../core/model/command.js'
import type { PostOnly, Side } from '../../../core/model/order.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { runs } from '../../support/property-runs.js'
import { observedFuture } from '../../support/future.js'
import { matcherOrder, testMatcher, type TestMatcher } from '../../support/matching.js'

interface Quote {
  readonly side: Side
  /** cNGN per USDC. */
  readonly price: number
  readonly trader: number
}

const quote: fc.Arbitrary<Quote> = fc.record({
  side: fc.constantFrom('buy', 'sell'),
  price: fc.integer({ min: 1300, max: 1900 }),
  trader: fc.integer({ min: 1, max: 4 }),
})

/** Indices of the moments between which the quotes are placed, so that the band leaves some of them. */
const day = fc.record({
  acts: fc.array(fc.oneof(quote, fc.integer({ min: 1400, max: 1700 })), {
    minLength: 4,
    maxLength: 30,
  }),
  last: quote,
})

const placement = (orderId: string, { side, price, trader }: Quote, postOnly?: PostOnly) =>
  ({
    kind: 'PlaceOrder',
    order: matcherOrder({
      orderId,
      side,
      subaccountId: BigInt(trader),
      nonce: BigInt(`0x${orderId}`),
      owner: `0x${`0${trader}`.repeat(20)}`,
      desiredAmount: amountE18(E18),
      limitPrice: priceE18(BigInt(price) * E18),
      ...(postOnly !== undefined && { postOnly }),
    }),
  }) satisfies Command

/** A market of futures with the day's quotes, the newest facts a second old at most. */
function marketOf(acts: readonly (Quote | number)[]): TestMatcher {
  const matcher = testMatcher(25, 'future')
  const observe = (index: number): void => {
    const observation = observedFuture({ index: priceE18(BigInt(index) * E18) })
    const readAtMs = matcher.nowMs()
    matcher.apply({ kind: 'MarketObserved', observation: { ...observation, readAtMs } })
    matcher.apply({ kind: 'Tick' })
  }
  observe(1500)
  for (const [i, act] of acts.entries()) {
    if (typeof act === 'number') observe(act)
    else matcher.apply(placement(`a${i}`, act))
  }
  return matcher
}

describe('a post-only order', () => {
  it('is refused exactly where it would be matched without, and slides to where the chain fills (MAT-029, MAT-031)', () => {
    const seen = { refused: 0, taken: 0, slid: 0, passedOver: 0 }
    fc.assert(
      fc.property(day, ({ acts, last }) => {
        const plain = marketOf(acts)
        const changes = plain.apply(placement('ff', last)).changes
        // Of an own account's order matching cancels the coming one: it counts as any other.
        const takes = changes.some(
          (it) =>
            it.kind === 'OrderMatched' ||
            ('cancelReason' in it && it.cancelReason === 'self_trade'),
        )
        const strict = marketOf(acts)
        const { answer } = strict.apply(placement('ff', last, 'reject'))
        expect(answer?.kind === 'refused', 'refused').to.equal(takes)
        seen[takes ? 'refused' : 'taken'] += 1
        const { buy, sell } = strict.state.book
        const bid = buy.levels.at(-1)?.price ?? 0n
        const ask = sell.levels.at(-1)?.price
        if (ask !== undefined && bid >= ask) seen.passedOver += 1

        const sliding = marketOf(acts)
        sliding.apply(placement('ff', last, 'slide'))
        const live = sliding.state.orders.get('ff')
        const { fillRange } = sliding.state.trading
        const range = fillRange?.(sliding.state.observed, sliding.nowMs())
        if (range === undefined) throw new Error('a market of futures has a band')
        if (live?.order.signedLimitPrice === undefined) return
        seen.slid += 1
        expect(live.pending, 'taken').to.equal(0n)
        expect(live.limitPrice >= range.low && live.limitPrice <= range.high, 'in band').to.equal(
          true,
        )
      }),
      { numRuns: runs(400) },
    )
    expect(seen.refused, 'refused').to.be.above(20)
    expect(seen.taken, 'not refused').to.be.above(20)
    expect(seen.slid, 'slid').to.be.above(10)
    expect(seen.passedOver, 'books with orders out of reach that cross').to.be.above(10)
  })
})
