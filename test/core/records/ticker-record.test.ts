import { expect } from 'chai'
import fc from 'fast-check'
import { parseDecimal } from '../../../core/decimal.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { tickerRecord } from '../../../core/records/ticker-record.js'
import { aMarket } from '../../support/builders.js'

const market = aMarket()
const price = (text: string) => priceE18(parseDecimal(text, 18) ?? 0n)

describe('ticker record', () => {
  it('prices USDC in cNGN, the bid rounded down and the ask up (REA-022)', () => {
    // 1 / 0.0007 = 1428.57142857142…; 1 / 0.0006 = 1666.6666…; 1 / 0.00065 = 1538.461538461538…
    const stats = {
      first: price('0.0006'),
      last: price('0.00065'),
      high: price('0.0007'),
      low: price('0.0006'),
      volume: amountE18(3_000_500_000_000_000_000n),
      quoteVolume: quoteE18(1_234_567_500_000_000_000n),
    }
    const facts = { last: price('0.00065'), bid: price('0.0006'), ask: price('0.0007'), stats }
    expect(tickerRecord(market, facts)).to.deep.equal({
      ticker_id: 'cNGN-USDC',
      base_currency: 'USDC',
      target_currency: 'cNGN',
      last_price: '1538.4615384615',
      base_volume: '1.234568',
      target_volume: '3.0005',
      bid: '1428.5714285714',
      ask: '1666.6666666667',
      high: '1666.6666666667',
      low: '1428.5714285714',
    })
  })

  it('leaves empty what is not known (REA-023)', () => {
    expect(tickerRecord(market, {})).to.deep.equal({
      ticker_id: 'cNGN-USDC',
      base_currency: 'USDC',
      target_currency: 'cNGN',
      last_price: '',
      base_volume: '0',
      target_volume: '0',
      bid: '',
      ask: '',
      high: '',
      low: '',
    })
  })

  it('never crosses a book that is not crossed, and is off by less than the last decimal', () => {
    const anyPrice = fc.bigInt({ min: 1n, max: 10n ** 22n })
    fc.assert(
      fc.property(anyPrice, anyPrice, (a, b) => {
        const [engineBid, engineAsk] = a < b ? [a, b] : [b, a]
        const { bid, ask } = tickerRecord(market, {
          bid: priceE18(engineBid),
          ask: priceE18(engineAsk),
        })
        const uiBid = parseDecimal(bid, 10) ?? -1n
        const uiAsk = parseDecimal(ask, 10) ?? -1n
        expect(uiBid <= uiAsk).to.equal(true)
        const one = 10n ** 28n
        expect(uiBid * engineAsk <= one && (uiBid + 1n) * engineAsk > one).to.equal(true)
        expect(uiAsk * engineBid >= one && (uiAsk - 1n) * engineBid < one).to.equal(true)
      }),
    )
  })
})
