import { expect } from 'chai'
import { futureModel, initialTerms } from '../../../core/contracts/future-margin.js'
import { legOf } from '../../../core/contracts/margin-purse.js'
import type { LiveOrder } from '../../../core/engine/live-order.js'
import { E18, priceE18 } from '../../../core/money.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { e18 } from '../../support/perpetual.js'

const price = (whole: string) => priceE18(e18(whole))

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
    // Two contracts gained 15 each since they were read: 30,000 cNGN.
    ['with what a new mark gives a long', { position: e18('2') }, { mark: price('1515') }, '1018'],
    ['with what it takes of a short', { position: e18('-1') }, { mark: price('1513.5') }, '990'],
    ['less the margin of other series', { otherSize: e18('3') }, {}, '700'],
  ] as const
  for (const [name, account, market, equity] of standings) {
    it(`has a standing ${name}`, () => {
      const held = futureAccount({ usdc: e18('1000'), ...account })
      expect(futureModel.standing(held, futureFacts(market))).to.deep.equal({
        ...{ cash: e18('1000'), equity: e18(equity) },
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
