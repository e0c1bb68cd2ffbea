import { expect } from 'chai'
import { parseDecimal } from '../../../core/decimal.js'
import { E18 } from '../../../core/money.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import { drawnText, editedFrom, editGuards, steppedText } from '../../../web/select/edit-plan.js'
import { marketTerms } from '../../../web/select/market-terms.js'
import { aMarket } from '../../support/builders.js'

const SPOT = marketEntry(aMarket())
const read = (text: string): bigint => parseDecimal(text, 18) ?? 0n
const SETTING = {
  entry: SPOT,
  terms: marketTerms(SPOT),
  // A trader buys USDC at 1,600 cNGN.
  book: { bids: [{ priceE18: read('0.000625'), amountE18: read('160000') }], asks: [] },
  isLive: true,
  isDecimalComma: false,
}

describe('web/select: an order that is moved', () => {
  it('is warned about where it would cross, and asked about far beyond the book', () => {
    const codes = (price: string) =>
      editGuards({ side: 'sell' }, { price, size: '10' }, SETTING).map(({ code }) => code)
    expect(codes('1590')).to.deep.equal([])
    expect(codes('1601')).to.deep.equal(['crosses'])
    expect(codes('1800')).to.deep.equal(['far_from_book', 'crosses'])
    expect(codes('x')).to.deep.equal([])
  })

  it('begins at the price and size that it has, in trader terms', () => {
    const record = { limit_price: '0.000625', desired_amount: '16000' }
    expect(editedFrom(SETTING.terms, record)).to.deep.equal({
      priceE18: 1_600n * E18,
      sizeE18: 10n * E18,
    })
  })

  it('is at a price that was drawn, or a basis point on, and never at none', () => {
    expect(drawnText(1_600.123_456, 4)).to.equal('1600.1235')
    for (const none of [undefined, Number.NaN, -1, 0, 0.000_01])
      expect(drawnText(none, 4)).to.equal(undefined)
    expect(steppedText(1_600n * E18, 1, 4)).to.equal('1600.1600')
    expect(steppedText(1_600n * E18, -10, 4)).to.equal('1598.4000')
    expect(steppedText(E18 / 10_000n, -5, 4)).to.equal('0.0001')
  })
})
