import { expect } from 'chai'
import fc from 'fast-check'
import { formatDecimal, parseDecimal } from '../../../core/decimal.js'
import { E18 } from '../../../core/money.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import { traderPrice, traderSize } from '../../../web/select/book-rows.js'
import { noDecimalComma } from '../../../web/select/format.js'
import { ladderLines, ladderOf, middleOf, type LadderInput } from '../../../web/select/ladder.js'
import { shareOfFree } from '../../../web/select/planned.js'
import { marketTerms } from '../../../web/select/market-terms.js'
import { aMarket, aPerp } from '../../support/builders.js'
import { runs } from '../../support/property-runs.js'

const [SPOT, PERP] = [aMarket(), aPerp()].map((market) => marketEntry(market)) as [
  ReturnType<typeof marketEntry>,
  ReturnType<typeof marketEntry>,
]
const read = (text: string): bigint => parseDecimal(text, 18) ?? 0n
/** On the spot market, bids for cNGN are what a trader buys USDC from: the best at 1,600 cNGN. */
const BOOK = {
  bids: [{ priceE18: read('0.000625'), amountE18: read('160000') }],
  asks: [{ priceE18: read('0.00065'), amountE18: read('160000') }],
}
const TYPED: LadderInput = {
  kind: 'limit',
  side: 'buy',
  price: '1500',
  last: '1400',
  count: '5',
  size: '100',
  unit: 'base',
  guardBps: 100n,
  force: 'GTC',
  post: 'off',
  reduceOnly: false,
}
const settingOf = (entry: typeof SPOT) => ({
  entry,
  terms: marketTerms(entry),
  book: BOOK,
  isLive: true,
  isDecimalComma: noDecimalComma,
})
const ladder = (typed: Partial<LadderInput>, entry = SPOT, more = {}) =>
  ladderOf({ ...TYPED, ...typed }, { ...settingOf(entry), ...more })
/** Prices and sizes in trader terms, rounded for the eye. */
const shown = (typed: Partial<LadderInput>, entry = SPOT) => {
  const found = ladder(typed, entry)
  if (typeof found === 'string') return found
  const terms = marketTerms(entry)
  return found.rungs.map(({ plan }) => [
    Number(traderPrice(terms, plan.limitE18)) / 1e18,
    Number(traderSize(terms, { priceE18: plan.limitE18, amountE18: plan.amountE18 })) / 1e18,
  ])
}
const blocks = (typed: Partial<LadderInput>, more = {}) => {
  const found = ladder(typed, SPOT, more)
  return typeof found === 'string' ? found : found.guards.map(({ code, level }) => [level, code])
}

describe('web/select: a ladder', () => {
  it('shares its size by orders at even distances, in either unit', () => {
    const base = shown({}) as number[][]
    expect(base.map(([price = 0]) => Math.round(price))).to.deep.equal([
      1500, 1475, 1450, 1425, 1400,
    ])
    for (const [, size] of base) expect(size).to.be.closeTo(20, 0.01)
    const quote = shown({ unit: 'quote', size: '145000' }) as number[][]
    for (const [, size] of quote) expect(size).to.be.closeTo(20, 0.01)
    const perp = { price: '0.0006', last: '0.0005', count: '2', size: '1001' }
    expect(shown(perp, PERP)).to.deep.equal([
      [0.0006, 500],
      [0.0005, 500],
    ])
  })

  it('gives at most what was typed, at no price worse than was typed', () => {
    const size = fc.integer({ min: 10, max: 100_000 })
    const price = fc.integer({ min: 1_000, max: 1_500 })
    fc.assert(
      fc.property(size, price, price, fc.integer({ min: 2, max: 20 }), (all, one, other, count) => {
        const found = ladder({
          size: `${all}`,
          price: `${one}`,
          last: `${other}`,
          count: `${count}`,
        })
        if (found === 'bad_range') return
        if (typeof found === 'string') throw new Error(found)
        const terms = marketTerms(SPOT)
        const worth = found.rungs.reduce((sum, { plan }) => {
          const [lowest, highest] = [Math.min(one, other), Math.max(one, other)]
          const trader = traderPrice(terms, plan.limitE18)
          expect(trader <= BigInt(highest) * E18).to.equal(true)
          expect(trader >= (BigInt(lowest) * E18 * 99n) / 100n).to.equal(true)
          return sum + plan.amountE18
        }, 0n)
        expect(worth <= BigInt(all) * BigInt(Math.max(one, other)) * E18).to.equal(true)
      }),
      { numRuns: runs(50) },
    )
  })

  it('is none without two prices apart, two orders at least and twenty at most, and a live book', () => {
    for (const [typed, why] of [
      [{ last: '' }, 'no_price'],
      [{ last: 'x' }, 'bad_price'],
      [{ size: '' }, 'no_size'],
      [{ size: '0' }, 'bad_size'],
      [{ count: '1' }, 'bad_count'],
      [{ count: '21' }, 'bad_count'],
      [{ count: '2.5' }, 'bad_count'],
      [{ last: '1500' }, 'bad_range'],
      [{ size: '0.0000000000000001' }, 'below_step'],
    ] as const)
      expect(shown(typed), JSON.stringify(typed)).to.equal(why)
    expect(ladder({}, SPOT, { isLive: false })).to.equal('no_live_book')
  })

  it('is blocked where one of its orders would fill at once, and where all together take more than is free', () => {
    expect(blocks({})).to.deep.equal([])
    expect(blocks({ price: '1650' })).to.deep.equal([['block', 'ladder_crosses']])
    expect(blocks({ price: '1400', last: '1650' })).to.deep.equal([['block', 'ladder_crosses']])
    expect(blocks({}, { freeE18: read('100000') })).to.deep.equal([
      ['block', 'insufficient_balance'],
    ])
    expect(blocks({}, { freeE18: read('150000') })).to.deep.equal([])
  })

  it('counts a share of what is free at the middle of its ends: all of it is paid for, in either order of them', () => {
    const quoteE18 = read('145000')
    const free = { baseE18: 0n, quoteE18, marginE18: undefined }
    for (const [price, last] of [
      ['1500', '1400'],
      ['1400', '1500'],
    ] as const) {
      const priceE18 = middleOf(read(price), read(last)) ?? 0n
      const asked = { side: 'buy', percent: 100n, priceE18 } as const
      const size = formatDecimal(shareOfFree(settingOf(SPOT), free, asked) ?? 0n, 18)
      expect(size).to.equal('99.4')
      expect(blocks({ price, last, size }, { freeE18: quoteE18 })).to.deep.equal([])
    }
    expect(middleOf(read('1500'), undefined)).to.equal(read('1500'))
  })

  it('says what all of it gives at most and receives at least', () => {
    const found = ladder({})
    if (typeof found === 'string') throw new Error(found)
    const lines = ladderLines(SPOT, marketTerms(SPOT), found)
    expect(lines.map(({ name }) => name)).to.deep.equal([
      'Orders',
      'Prices',
      'You give at most',
      'You receive at least',
      'Fee',
    ])
    expect(lines[1]?.value).to.match(/^1,500\.00\d* to 1,400\.00\d* cNGN per USDC$/)
    expect(lines[2]?.value).to.match(/^14\d,\d{3}\.\d\d cNGN$/)
    expect(lines[3]?.value).to.match(/^99\.\d\d USDC$/)
  })
})
