import { expect } from 'chai'
import fc from 'fast-check'
import { BadOrderTerms, toEngineTerms, toTraderTerms } from '../../client/index.js'
import { formatDecimal, parseDecimal } from '../../core/decimal.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { aFuture, aMarket } from '../support/builders.js'

const inverted = marketEntry(
  aMarket({ orderEntry: { name: 'cngn_usdc_spot_v1', orientation: 'inverted' } }),
)
const same = marketEntry(aFuture())
const value = (text: string): bigint => parseDecimal(text, 18) ?? -1n

describe('the units of a trader and of the engine', () => {
  it('are inverted on spot: a trader who buys USDC sells cNGN', () => {
    const trader = { side: 'buy', price: '1600', size: '10' } as const
    const engine = toEngineTerms(inverted, trader)
    expect(engine).to.deep.equal({ side: 'sell', price: '0.000625', amount: '16000' })
    expect(toTraderTerms(inverted, engine)).to.deep.equal(trader)
  })

  it('are the same elsewhere', () => {
    const engine = { side: 'sell', price: '1500.5', amount: '3' } as const
    expect(toTraderTerms(same, engine)).to.deep.equal({ side: 'sell', price: '1500.5', size: '3' })
  })

  it('come back within the decimals that are shown', () => {
    const price = fc.bigInt({ min: 10n ** 6n, max: 10n ** 11n }).map((n) => formatDecimal(n, 6))
    const size = fc.bigInt({ min: 10n ** 6n, max: 10n ** 13n }).map((n) => formatDecimal(n, 6))
    fc.assert(
      fc.property(price, size, (price, size) => {
        const back = toTraderTerms(inverted, toEngineTerms(inverted, { side: 'sell', price, size }))
        expect(back.side).to.equal('sell')
        // A tick of the engine is 1e-18 USDC per cNGN: at 100,000 cNGN per USDC a hundred-millionth.
        const off = value(back.price) - value(price)
        expect(off < 10n ** 11n && off > -(10n ** 11n)).to.equal(true)
        // The amount is rounded down to a millionth of a cNGN.
        expect(value(size) - value(back.size) <= 10n ** 13n).to.equal(true)
      }),
    )
  })

  it('are refused where they are not positive decimals', () => {
    for (const price of ['0', '-1', '1e3', '']) {
      expect(() => toTraderTerms(same, { side: 'buy', price, amount: '1' })).to.throw(BadOrderTerms)
    }
  })
})
