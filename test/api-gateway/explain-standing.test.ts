import { expect } from 'chai'
import { explainOrder, type ExplanationFacts } from '../../api-gateway/explain-order.js'
import { tradingOf } from '../../core/contracts/registry.js'
import type { Market } from '../../core/model/market.js'
import type { OrderProgress } from '../../core/model/order.js'
import { FACTS_REPEATED_MS } from '../../core/model/limits.js'
import { priceE18 } from '../../core/money.js'
import type { OrderEvent } from '../../data/history/read-life.js'
import { cancelReasons, holdReasons, marketReasons } from '../../interface/reasons.js'
import { aFuture, aMarket, anOrder, progressOf } from '../support/builders.js'
import { observedFuture } from '../support/future.js'
import { e18 } from '../support/perpetual.js'

const NOTHING: ExplanationFacts = {
  life: { events: [], fills: [], isWhole: true },
  facts: undefined,
  isOwn: false,
  nowMs: 0,
}

describe('where an order stands, in a sentence', () => {
  const order = anOrder()
  const told = (progress: Partial<OrderProgress>, market: Market = aMarket()) =>
    explainOrder(market, { order, progress: progressOf(order, progress) }, NOTHING)

  it('is the one of its hold, whichever it is', () => {
    for (const [reason, { means, ends }] of Object.entries(holdReasons)) {
      const heldReason = reason as keyof typeof holdReasons
      expect(told({ heldReason })).to.include({ code: reason, text: means, ends })
    }
  })

  it('is the one of its cancel, the venue’s, a hold’s or its sender’s', () => {
    for (const [reason, { means, ends }] of Object.entries({ ...holdReasons, ...cancelReasons })) {
      const ended = { status: 'cancelled', cancelReason: reason } as const
      expect(told(ended)).to.include({ code: reason, text: means, ends })
    }
    expect(told({ status: 'cancelled', cancelReason: 'own wish' }).text).to.contain('own wish')
  })

  it('names why its market matches nothing', () => {
    for (const [reason, { means, ends }] of Object.entries(marketReasons)) {
      const standing = { status: 'held', reason } as const
      const explained = told({}, aMarket({ standing }))
      expect(explained).to.include({ code: 'market_not_open', ends })
      expect(explained.text).to.contain(means)
    }
  })

  it('says that it is passed over where the chain does not fill at its price', () => {
    const market = aFuture()
    const observed = observedFuture()
    const fillRange = tradingOf(market).fillRange?.(observed, observed.readAtMs)
    expect(fillRange).not.to.equal(undefined)
    const { low = 0n, high = 0n } = fillRange ?? {}
    const at = (price: bigint) => {
      const resting = anOrder({ market: market.market, limitPrice: priceE18(price) })
      const stored = { order: resting, progress: progressOf(resting) }
      return explainOrder(market, stored, { ...NOTHING, fillRange })
    }
    for (const price of [low - 1n, high + 1n, e18('1')]) {
      expect(at(price).code).to.equal('outside_fill_band')
      expect(at(price).text).not.to.equal(told({}).text)
    }
    for (const price of [low, high]) expect(at(price).code).to.equal('open')
  })

  it('says that its price was refused until the market must have been observed again', () => {
    const market = aFuture()
    const resting = anOrder({ market: market.market })
    const stored = { order: resting, progress: progressOf(resting) }
    const after = (ms: number, revert: string) => {
      const refused: OrderEvent = { kind: 'refused', atMs: 1_000, settlementId: 'one', revert }
      const life = { ...NOTHING.life, events: [refused] }
      return explainOrder(market, stored, { ...NOTHING, life, nowMs: 1_000 + ms })
    }
    expect(after(0, 'FT_OutsideFillBand').code).to.equal('price_refused')
    expect(after(FACTS_REPEATED_MS - 1, 'FT_OutsideFillBand').code).to.equal('price_refused')
    expect(after(FACTS_REPEATED_MS, 'FT_OutsideFillBand').code).to.equal('open')
    expect(after(0, 'FT_FeeTooHigh').code).to.equal('open')
  })
})
