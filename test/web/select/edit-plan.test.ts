import { expect } from 'chai'
import { parseDecimal } from '../../../core/decimal.js'
import { E18 } from '../../../core/money.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import {
  drawnText,
  editGuards,
  editPlan,
  pricedAt,
  steppedText,
  type EditedRecord,
} from '../../../web/select/edit-plan.js'
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
}

const ORDER: EditedRecord = { side: 'sell', limit_price: '0.000625', desired_amount: '16000' }

describe('web/select: an order that is moved', () => {
  it('is warned about where it would cross, and asked about far beyond the book', () => {
    const codes = (price: string) =>
      editGuards(ORDER, { priceE18: read(price), sizeE18: undefined }, SETTING).map(
        ({ code }) => code,
      )
    expect(codes('1590')).to.deep.equal([])
    expect(codes('1601')).to.deep.equal(['crosses'])
    expect(codes('1800')).to.deep.equal(['far_from_book', 'crosses'])
  })

  it('is held against the least worth as the venue does: with what has matched, and not where it shrinks', () => {
    const terms = { ...SETTING.terms, minNotionalE18: 5n * E18 }
    const codes = (record: EditedRecord, price: string | undefined, size: string) =>
      editGuards(
        record,
        { priceE18: price === undefined ? undefined : read(price), sizeE18: read(size) },
        { ...SETTING, terms },
      ).map(({ code }) => code)
    // Of 10 USDC six have matched: four that move are of an order of ten.
    const partly = { ...ORDER, filled_amount: '9600' }
    expect(codes(partly, '1590', '10')).to.deep.equal([])
    expect(codes(partly, '1590', '4.9')).to.deep.equal([])
    expect(codes(ORDER, '1590', '4.9')).to.deep.equal(['below_min_notional'])
    expect(codes(ORDER, undefined, '4.9')).to.deep.equal([])
  })

  it('keeps its size to the last unit where only the price was touched, and its price where only the size was', () => {
    // 10.67 USDC to the eye: 10.66841, of which 0.00067 have matched.
    const record = { ...ORDER, limit_price: '0.00067', desired_amount: '15923', filled_amount: '1' }
    const terms = { ...SETTING.terms, tickE18: read('0.000001') }
    const edited = (price: string | undefined, sizeE18?: bigint) => {
      const priceE18 = price === undefined ? undefined : read(price)
      const plan = editPlan(terms, record, { priceE18, sizeE18 })
      return typeof plan === 'string' ? plan : [plan.plan.limitE18, plan.amountE18]
    }
    const own = read('0.00067')
    expect(edited('1600')).to.deep.equal([read('0.000625'), read('17069.384')])
    // The tick next to this price is its own.
    expect(edited('1492.53')).to.deep.equal([read('0.000671'), read('15922.921982')])
    expect(edited('1492.538')).to.deep.equal([own, read('15923')])
    expect(edited(undefined, read('67'))?.[0]).to.equal(own)
  })

  it('begins at the price that it has, in trader terms', () => {
    expect(pricedAt(SETTING.terms, ORDER)).to.equal(1_600n * E18)
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
