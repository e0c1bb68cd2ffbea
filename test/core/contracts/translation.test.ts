import { expect } from 'chai'
import fc from 'fast-check'
import {
  inTraderTerms,
  intentToEngine,
  isNeighbour,
  oppositeSide,
  spotContract,
} from '../../../core/contracts/translation.js'
import { parseDecimal } from '../../../core/decimal.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'

const grid = aMarket()
const at = (text: string): bigint => {
  const value = parseDecimal(text, 18)
  if (value === undefined) throw new Error(text)
  return value
}
const intent = (side: 'buy' | 'sell', price: string, size: string) => ({
  side,
  priceE18: at(price),
  sizeE18: at(size),
})

describe('translation of an intent', () => {
  it('inverts side and price on the spot market and multiplies size by price (ORD-055)', () => {
    const terms = intentToEngine('inverted', intent('buy', '1600', '100'), grid)
    expect(terms).to.deep.equal({
      side: 'sell',
      price: at('0.000625'),
      priceFloor: at('0.000625'),
      priceCeil: at('0.000625'),
      amount: at('160000'),
    })
  })

  it('rounds the reciprocal half up and takes both neighbours (ORD-056)', () => {
    const third = intentToEngine('inverted', intent('sell', '3', '1'), grid)
    expect(third.price).to.equal(333_333_333_333_333_333n)
    expect(isNeighbour(third, 333_333_333_333_333_333n)).to.equal(true)
    expect(isNeighbour(third, 333_333_333_333_333_334n)).to.equal(true)
    expect(isNeighbour(third, 333_333_333_333_333_332n)).to.equal(false)
    expect(isNeighbour(third, 333_333_333_333_333_335n)).to.equal(false)
    const sixth = intentToEngine('inverted', intent('sell', '6', '1'), grid)
    expect(sixth.price).to.equal(166_666_666_666_666_667n)
  })

  it('rounds the amount down to the step (ORD-058)', () => {
    const terms = intentToEngine('inverted', intent('buy', '1538.461538', '0.000001'), grid)
    expect(terms.amount).to.equal(at('0.001538'))
  })

  it('multiplies exact price and size, and rounds the product once', () => {
    const finest = { ...grid, minSize: amountE18(1n) }
    const terms = intentToEngine(
      'inverted',
      intent('buy', '3.000000000000000001', '0.333333333333333333'),
      finest,
    )
    expect(terms.amount).to.equal(at('0.999999999999999999'))
    expect(terms.price).to.equal(at('0.333333333333333333'))
    const onGrid = intent('buy', '3.000000000000000001', '0.333333333333333333')
    expect(intentToEngine('inverted', onGrid, grid).amount).to.equal(at('0.999999'))
  })

  it('works on a coarser tick', () => {
    const coarse = { ...grid, tickSize: priceE18(10n ** 16n) }
    const terms = intentToEngine('inverted', intent('buy', '3', '1'), coarse)
    expect([terms.priceFloor, terms.price, terms.priceCeil]).to.deep.equal([
      at('0.33'),
      at('0.33'),
      at('0.34'),
    ])
  })

  it('changes nothing on an identity market (ORD-059)', () => {
    const terms = intentToEngine('identity', intent('buy', '0.00065', '1.5'), grid)
    expect(terms).to.include({ side: 'buy', price: at('0.00065'), amount: at('1.5') })
  })

  it('brackets the exact reciprocal within one tick for any price', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 30n), (uiPrice) => {
        const { price, priceFloor, priceCeil } = intentToEngine(
          'inverted',
          { side: 'buy', priceE18: uiPrice, sizeE18: E18 },
          grid,
        )
        const exactE36 = E18 * E18
        expect(priceFloor * uiPrice <= exactE36 && priceCeil * uiPrice >= exactE36).to.equal(true)
        expect(priceCeil - priceFloor <= 1n).to.equal(true)
        expect(price === priceFloor || price === priceCeil).to.equal(true)
      }),
    )
  })
})

describe('a level in trader terms', () => {
  const level = { price: priceE18(at('0.00065')), amount: amountE18(at('1000')) }

  it('is the inverse price and the size in USDC on the spot market', () => {
    expect(inTraderTerms(grid, level)).to.include({ price: '1538.4615384615', size: '0.65' })
  })

  it('is as it stands on an identity market, and where there is no translation', () => {
    for (const market of [aPerp(), aFuture()]) {
      expect(inTraderTerms(market, level)).to.include({ price: '0.00065', size: '1000' })
    }
  })
})

describe('spot_contract', () => {
  const order = {
    side: 'buy',
    price: priceE18(at('0.00065')),
    amount: amountE18(at('1000')),
  } as const

  it('presents the engine order in trader terms (ORD-062)', () => {
    expect(spotContract(grid, order)).to.deep.equal({
      spec: 'cngn_usdc_spot_v1',
      ui_intent: { side: 'sell', price: '1538.4615384615', size: '0.65' },
      engine_order: { side: 'buy', price: '0.00065', amount: '1000' },
      balance_delta: { usdc: '-0.65', cngn: '+1000' },
    })
    expect(spotContract(grid, { ...order, side: 'sell' })?.balance_delta).to.deep.equal({
      usdc: '+0.65',
      cngn: '-1000',
    })
  })

  it('gives no sign to an amount that rounds to nothing', () => {
    const dust = { ...order, amount: amountE18(1n) }
    expect(spotContract(grid, dust)?.balance_delta).to.deep.equal({
      usdc: '0',
      cngn: '+0.000000000000000001',
    })
  })

  it('echoes a sent intent as it was written', () => {
    const sent = { side: 'sell', price: '1538.460', size: '0.6500' } as const
    expect(spotContract(grid, order, sent)?.ui_intent).to.deep.equal(sent)
  })

  it('restates a perpetual as it is, and says nothing on a future', () => {
    expect(spotContract(aPerp(), order)).to.deep.include({
      spec: 'cngn_usdc_perp_v1',
      ui_intent: { side: 'buy', price: '0.00065', size: '1000' },
    })
    expect(spotContract(aFuture(), order)).to.equal(undefined)
  })

  it('gives back price and size of any intent that it could have come from', () => {
    // Prices around the market's with six decimals, sizes in whole token units.
    const uiPrice = fc.bigInt(100_000_000n, 9_999_000_000n).map((n) => n * 10n ** 12n)
    const uiSize = fc.bigInt(1_000_000n, 10n ** 13n).map((n) => n * 10n ** 12n)
    fc.assert(
      fc.property(uiPrice, uiSize, fc.constantFrom('buy', 'sell'), (price, size, side) => {
        const engine = intentToEngine('inverted', { side, priceE18: price, sizeE18: size }, grid)
        const back = spotContract(grid, engine)?.ui_intent
        expect(back?.side).to.equal(side)
        expect(oppositeSide(engine.side)).to.equal(side)
        expect(at(back?.price ?? '')).to.equal(price)
        expect(at(back?.size ?? '')).to.equal(size)
      }),
    )
  })
})
