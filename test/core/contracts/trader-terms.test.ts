import { expect } from 'chai'
import fc from 'fast-check'
import { traderCandle, traderTerms } from '../../../core/contracts/trader-terms.js'
import { formatDecimal, parseDecimal } from '../../../core/decimal.js'
import { priceE18 } from '../../../core/money.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import { anyCandle, scaled } from '../../support/candles.js'
import { runs } from '../../support/property-runs.js'

const SPOT = aMarket()
const STRAIGHT = [aPerp(), aFuture()]

describe('a market in trader terms', () => {
  it('is the inverse of the engine on spot: high and low, bids and asks and sides change places', () => {
    const terms = traderTerms(SPOT)
    expect(terms.highLow('dear', 'cheap')).to.deep.equal({ high: 'cheap', low: 'dear' })
    expect(terms.sides('bids', 'asks')).to.deep.equal({ bids: 'asks', asks: 'bids' })
    expect([terms.side('buy'), terms.side('sell')]).to.deep.equal(['sell', 'buy'])
    const price = priceE18(650_000_000_000_000n)
    expect(terms.price(price, 'down')).to.equal('1538.4615384615')
    expect(terms.price(price, 'up')).to.equal('1538.4615384616')
    const sum = { amount: 3n * 10n ** 18n, productE36: 1_234_567_500_000n * 10n ** 24n }
    expect([terms.base(sum, 'half up'), terms.quote(sum, 'half up')]).to.deep.equal([
      '1.234568',
      '3',
    ])
  })

  it('is the engine itself on the perpetual and on futures, its prices exact', () => {
    for (const market of STRAIGHT) {
      const terms = traderTerms(market)
      expect(terms.highLow('dear', 'cheap')).to.deep.equal({ high: 'dear', low: 'cheap' })
      expect(terms.sides('bids', 'asks')).to.deep.equal({ bids: 'bids', asks: 'asks' })
      expect(terms.side('buy')).to.equal('buy')
      for (const rounding of ['up', 'down', 'half up'] as const)
        expect(terms.price(priceE18(1n), rounding)).to.equal('0.000000000000000001')
    }
  })

  it('has changed by the percentage of the price that a trader sees', () => {
    const change = (market: typeof SPOT, first: string, last: string) =>
      traderTerms(market).changePercent(
        priceE18(parseDecimal(first, 18) ?? 0n),
        priceE18(parseDecimal(last, 18) ?? 0n),
      )
    // 1,600 → 2,000 cNGN for a USDC, and back.
    expect(change(SPOT, '0.000625', '0.0005')).to.equal('25')
    expect(change(SPOT, '0.0005', '0.000625')).to.equal('-20')
    for (const market of STRAIGHT) expect(change(market, '3', '4')).to.equal('33.3333')
    for (const market of STRAIGHT) expect(change(market, '3', '2')).to.equal('-33.3333')
  })
})

describe('a candle in trader terms', () => {
  it('is its inverse to half a unit of the tenth decimal on spot, with the quote as its volume', () => {
    fc.assert(
      fc.property(anyCandle, (candle) => {
        const shown = traderCandle(SPOT, candle)
        const pairs = [
          ...([
            ['open', 'open'],
            ['high', 'low'],
            ['low', 'high'],
            ['close', 'close'],
          ] as const),
        ]
        for (const [name, of] of pairs) {
          // |shown − 1 / price| ≤ half of 1e-10, both sides times price.
          const off = 2n * (scaled(shown[name], 10) * candle[of] - 10n ** 28n)
          expect(off <= candle[of] && off + candle[of] > 0n, name).to.equal(true)
        }
        const missing = 2n * (scaled(shown.volume, 6) * 10n ** 12n - candle.quoteVolume)
        expect(missing <= 10n ** 12n && missing >= -(10n ** 12n)).to.equal(true)
        const high = scaled(shown.high, 10)
        const low = scaled(shown.low, 10)
        for (const name of ['open', 'close'] as const) {
          expect(scaled(shown[name], 10) <= high && scaled(shown[name], 10) >= low).to.equal(true)
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('is the candle itself on the perpetual and on futures, with the amount as its volume', () => {
    fc.assert(
      fc.property(anyCandle, fc.constantFrom(...STRAIGHT), (candle, market) => {
        const { open, high, low, close, volume } = candle
        const texts = Object.entries({ open, high, low, close, volume }).map(([name, value]) => [
          name,
          formatDecimal(value, 18),
        ])
        expect(traderCandle(market, candle)).to.deep.equal(Object.fromEntries(texts))
      }),
      { numRuns: runs(100) },
    )
  })
})
