import { expect } from 'chai'
import { cngnValue, futureModel, initialTerms } from '../../../core/contracts/future-margin.js'
import { legOf } from '../../../core/contracts/margin-risk.js'
import type { LiveOrder } from '../../../core/model/live-order.js'
import { E18, priceE18 } from '../../../core/money.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { e18 } from '../../support/perpetual.js'

const price = (whole: string) => priceE18(e18(whole))

const cngnDebt = (cngn: string, index: string): bigint =>
  -cngnValue(-e18(cngn), e18(index), e18('0.9'))

/** Mark and index at 1,500, initial margin a tenth, cNGN at 0.9 of its worth. */
describe('the margin model of dated futures', () => {
  const facts = futureFacts()

  it('counts a position in USDC, a thousand to the contract', () => {
    expect(futureModel.positionOf(futureAccount({ position: e18('-2') }))).to.equal(e18('-2000'))
    expect(futureModel.isFrozen(futureAccount())).to.equal(false)
    expect(futureModel.mayBorrow(facts)).to.equal(false)
    expect(initialTerms(facts)).to.deep.equal({ rate: e18('0.1'), factor: e18('0.9') })
  })

  const standings = [
    ['of USDC alone', {}, {}, '1000'],
    ['with cNGN by its factor', { cngn: e18('1500') }, {}, '1000.9'],
    ['with a debt divided by it', { cngn: e18('-1350') }, {}, '999'],
    // Two contracts gained 100 each since they were read: 200,000 cNGN, 125 USDC.
    [
      'with what mark and index give a long',
      { position: e18('2') },
      { mark: price('1600'), index: price('1600') },
      '1112.5',
    ],
    ['without what the mark alone gives', { position: e18('2') }, { mark: price('1600') }, '1000'],
    [
      'without what the index alone gives',
      { position: e18('2') },
      { index: price('1600') },
      '1000',
    ],
    // 13.5 below the mark: a debt of 13,500 cNGN is 9 USDC at 1500, and counts as 10.
    [
      'less what the index takes of a long',
      { position: e18('1'), mark: price('1513.5') },
      { mark: price('1513.5') },
      '990',
    ],
    [
      'less what the index takes of other series',
      { otherSize: e18('1'), others: { net: e18('1'), worth: e18('1513500') } },
      {},
      '890',
    ],
    ['with what it takes of a short', { position: e18('-1') }, { mark: price('1513.5') }, '990'],
    ['less the margin of other series', { otherSize: e18('3') }, {}, '700'],
  ] as const
  for (const [name, account, market, equity] of standings) {
    it(`has a standing ${name}`, () => {
      const held = futureAccount({ usdc: e18('1000'), ...account })
      expect(futureModel.standing(held, futureFacts(market))).to.deep.equal({
        cash: e18('1000'),
        equity: e18(equity),
      })
    })
  }

  it('has no standing while the index is stale', () => {
    expect(futureModel.standing(futureAccount(), futureFacts({ indexStale: true }))).to.equal(
      undefined,
    )
  })

  it('requires a tenth of the size on either side, rounded up (FUT-023)', () => {
    const required = (size: bigint) => futureModel.requirement(facts, size)
    expect([required(e18('1000')), required(e18('-1000'))]).to.deep.equal([e18('100'), e18('100')])
    expect([required(1n), required(-11n), required(0n)]).to.deep.equal([1n, 2n, 0n])
  })

  it('gives a leg the worth of its distance to the mark, and takes its fee', () => {
    const result = (side: 'buy' | 'sell', at: string, fee = 0n) =>
      futureModel.resultOf(facts, legOf(side, price(at), e18('1000'), fee))
    // 1.5 better for 1,000 USDC: 1,500 cNGN are one USDC, of which 0.9 count; worse is owed by it.
    expect(result('buy', '1498.5')).to.equal(e18('0.9'))
    expect(result('sell', '1501.5')).to.equal(e18('0.9'))
    expect(result('buy', '1501.35')).to.equal(e18('-1'))
    expect(result('sell', '1498.65', e18('2.5'))).to.equal(e18('-3.5'))
    expect(result('buy', '1500', 7n)).to.equal(-7n)
    // Less than a unit is lost as a whole one.
    expect(futureModel.resultOf(facts, { size: 1n, worth: e18('1500') + 1n, fee: 0n })).to.equal(
      -2n,
    )
  })

  it('takes a leg, a reduction and the best price by mark and index, whichever is worse', () => {
    const apart = futureFacts({ mark: price('1500'), index: price('1600') })
    const leg = (side: 'buy' | 'sell', at: string) => legOf(side, price(at), e18('1000'))
    // 64 below the index and 36 above the mark: 36,000 cNGN are 22.5 USDC at 1600, and count as 25.
    expect(futureModel.resultOf(apart, leg('buy', '1536'))).to.equal(e18('-25'))
    expect(futureModel.resultOf(apart, leg('sell', '1516'))).to.equal(-cngnDebt('84000', '1600'))
    expect(futureModel.reducesFreely(apart, leg('buy', '1500'))).to.equal(true)
    expect(futureModel.reducesFreely(apart, leg('buy', '1501'))).to.equal(false)
    expect(futureModel.reducesFreely(apart, leg('sell', '1600'))).to.equal(true)
    expect(futureModel.reducesFreely(apart, leg('sell', '1599'))).to.equal(false)
    const best = (side: 'buy' | 'sell', limit: string) =>
      futureModel.legAtBest(apart, { side, limitPrice: price(limit) } as LiveOrder, 1n).worth
    expect([best('buy', '1700'), best('sell', '1400')]).to.deep.equal([e18('1500'), -e18('1600')])
  })

  it('moves the fee alone in cash', () => {
    const leg = legOf('buy', price('9999'), E18, 5n)
    expect(futureModel.cashOf(facts, leg)).to.equal(-5n)
  })

  it('takes an order at its limit where that is better than the mark, and at the mark elsewhere', () => {
    const worthAt = (side: 'buy' | 'sell', limit: string) => {
      const order = { side, limitPrice: price(limit) } as LiveOrder
      const { size, worth, fee } = futureModel.legAtBest(facts, order, 2n)
      expect([size, fee]).to.deep.equal([side === 'buy' ? 2n : -2n, 0n])
      return worth / size
    }
    expect(worthAt('buy', '1499')).to.equal(e18('1499'))
    expect(worthAt('buy', '1501')).to.equal(e18('1500'))
    expect(worthAt('sell', '1501')).to.equal(e18('1501'))
    expect(worthAt('sell', '1499')).to.equal(e18('1500'))
  })

  it('asks nothing of a reduction without a fee at the mark or better', () => {
    const isFree = (side: 'buy' | 'sell', at: string, fee = 0n) =>
      futureModel.reducesFreely(facts, legOf(side, price(at), E18, fee))
    expect([isFree('buy', '1500'), isFree('sell', '1500')]).to.deep.equal([true, true])
    expect([isFree('buy', '1499'), isFree('sell', '1499')]).to.deep.equal([true, false])
    expect([isFree('buy', '1501'), isFree('sell', '1501')]).to.deep.equal([false, true])
    expect(isFree('buy', '1499', 1n)).to.equal(false)
  })
})
