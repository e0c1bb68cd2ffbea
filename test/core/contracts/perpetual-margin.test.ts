import { expect } from 'chai'
import fc from 'fast-check'
import {
  cashDeltaOf,
  creditOf,
  floorE18,
  isAccepted,
  liquidationPrice,
  marginOf,
  perpetualOutlook,
  quoteToMark,
  requirementOf,
  unsettledAt,
  type MarginBasis,
} from '../../../core/contracts/perpetual-margin.js'
import type { CollateralFacts, PerpetualFacts } from '../../../core/contracts/perpetual-facts.js'
import { formatDecimal } from '../../../core/decimal.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { e18, perpetualAccount, perpetualFacts } from '../../support/perpetual.js'

const collateral: CollateralFacts = {
  asset: `0x${'c'.repeat(40)}`,
  marginFactor: e18('0.8'),
  initialScale: e18('0.9'),
  cap: amountE18(0n),
  total: amountE18(0n),
  depositsOpen: true,
}

const at = (price: string, facts: Partial<PerpetualFacts> = {}): PerpetualFacts =>
  perpetualFacts({ mark: priceE18(e18(price)), index: priceE18(e18(price)), ...facts })

const account = (fields: Partial<MarginBasis>): MarginBasis => ({
  position: 0n,
  cash: 0n,
  unsettled: 0n,
  collateral: 0n,
  ...fields,
})

const text = (value: bigint): string => formatDecimal(value, 18)

describe('margin of a perpetual', () => {
  const long = account({ cash: e18('100'), position: e18('1000000') })

  it('is cash less the requirement of the position', () => {
    const facts = at('0.00065')
    expect(text(marginOf(facts, long, 'initial'))).to.equal('35')
    expect(text(marginOf(facts, long, 'maintenance'))).to.equal('57.75')
  })

  it('follows the mark', () => {
    const lower = account({ ...long, unsettled: e18('-50') })
    const facts = at('0.0006')
    expect(text(marginOf(facts, lower, 'initial'))).to.equal('-10')
    expect(text(marginOf(facts, lower, 'maintenance'))).to.equal('11')
  })

  it('counts posted collateral at the index, scaled once more for initial margin', () => {
    const facts = at('0.00063', { collateral })
    const posted = account({
      collateral: e18('1000000'),
      cash: e18('10'),
      position: e18('1000000'),
    })
    const lost = account({ ...posted, unsettled: e18('-20') })
    expect(text(marginOf(facts, lost, 'initial'))).to.equal('380.6')
    expect(text(creditOf(facts, posted.collateral, 'maintenance'))).to.equal('504')
  })

  it('adds the surcharges of doubtful prices to initial margin alone', () => {
    const contingency = {
      perpThreshold: e18('0.6'),
      baseThreshold: e18('0.5'),
      factor: e18('0.2'),
      depegThreshold: e18('0.99'),
      depegFactor: e18('1.5'),
    }
    const facts = at('2', { contingency, collateral })
    const plain = requirementOf(facts, e18('-10'), 'initial')
    expect(text(plain)).to.equal('2')
    const unsure = { ...facts, markConfidence: e18('0.5') }
    // (1 − 0.5) × 0.2 × 2 for each of ten.
    expect(text(requirementOf(unsure, e18('-10'), 'initial') - plain)).to.equal('2')
    expect(requirementOf(unsure, e18('-10'), 'maintenance')).to.equal(
      requirementOf(facts, e18('-10'), 'maintenance'),
    )
    // Ten × (0.99 − 0.95) × 1.5 × 2.
    const depegged = { ...facts, stable: e18('0.95') }
    expect(text(requirementOf(depegged, e18('10'), 'initial') - plain)).to.equal('1.2')
    const doubted = { ...facts, indexConfidence: e18('0.4') }
    // 10 × 2 × 0.8 × 0.9 less (1 − 0.4) × 0.2 × 2 × 10.
    expect(text(creditOf(doubted, e18('10'), 'initial'))).to.equal('12')
    expect(text(creditOf(doubted, e18('10'), 'maintenance'))).to.equal('16')
  })

  const anyPrice = fc.bigInt({ min: 1n, max: 10n ** 20n })
  const anySize = fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n })
  const anyShare = fc.bigInt({ min: 0n, max: E18 })

  it('agrees with exact fractions to less than the units that truncation may take', () => {
    fc.assert(
      fc.property(anyPrice, anySize, anyShare, (mark, position, rate) => {
        const facts = perpetualFacts({ mark: priceE18(mark), initialRate: rate })
        const size = position < 0n ? -position : position
        const exact = size * mark * rate
        const required = requirementOf(facts, position, 'initial') * E18 * E18
        expect(required <= exact && exact - required < 2n * E18 * E18).to.equal(true)
      }),
    )
  })

  it('revalues a position as the chain does, or up to three units lower (PER-022)', () => {
    fc.assert(
      fc.property(anySize, anyPrice, anyPrice, anyPrice, (position, last, seen, now) => {
        const profit = (mark: bigint) => ((mark - last) * position) / E18
        const valued = { unsettled: profit(seen), mark: priceE18(seen), elsewhere: 0n }
        const revalued = unsettledAt(perpetualAccount({ position, valued }), now)
        const off = profit(now) - revalued
        expect(off >= 0n && off <= 3n, `${off}`).to.equal(true)
      }),
    )
  })

  it('accepts a trade where the manager does (PER-023)', () => {
    const facts = at('0.0006')
    const valued = { unsettled: e18('-50'), mark: facts.mark, elsewhere: 0n }
    const short = perpetualAccount({ position: long.position, cash: long.cash, valued })
    const sold = (amount: string, fee: string, price = '0.0006') =>
      isAccepted(facts, short, {
        size: -e18(amount),
        cashDelta: cashDeltaOf(facts, { size: -e18(amount), price: e18(price), fee: e18(fee) }),
      })
    // Half of the position leaves 19.25 of initial margin; a twentieth leaves it at -7.075.
    expect(sold('500000', '0.75')).to.equal(true)
    expect(sold('50000', '0.075')).to.equal(false)
    // What costs no cash adds no risk; a flip does.
    expect(sold('50000', '0')).to.equal(true)
    expect(sold('50000', '0', '0.000599')).to.equal(false)
    expect(sold('2000000', '0')).to.equal(false)
    // The end of the position adds no risk, whatever the account lacks elsewhere.
    const lacking = { ...short, valued: { ...valued, elsewhere: e18('-1000') } }
    expect(isAccepted(facts, lacking, { size: -long.position, cashDelta: 0n })).to.equal(true)
    expect(isAccepted(facts, lacking, { size: -long.position, cashDelta: -1n })).to.equal(false)
  })

  it('accepts no trade that takes cash below zero, whatever the margin, unless the market lends', () => {
    const facts = at('0.00063', { collateral })
    const valued = { unsettled: e18('-20'), mark: facts.mark, elsewhere: 0n }
    const posted = perpetualAccount({
      position: e18('1000000'),
      cash: e18('10'),
      collateral: e18('1000000'),
      valued,
    })
    const trade = { size: -E18, cashDelta: -1n }
    expect(isAccepted(facts, posted, trade)).to.equal(false)
    expect(isAccepted({ ...facts, borrowing: true }, posted, trade)).to.equal(true)
    expect(isAccepted(facts, posted, { ...trade, cashDelta: 0n })).to.equal(true)
  })

  it('accepts a trade that leaves margin and cash to the last unit', () => {
    const facts = at('1')
    const valued = { unsettled: 0n, mark: facts.mark, elsewhere: 0n }
    // Ten more require one more of initial margin.
    const holding = (fields: Partial<Parameters<typeof isAccepted>[1]>) =>
      perpetualAccount({ position: e18('10'), cash: e18('2'), valued, ...fields })
    const trade = { size: e18('10'), cashDelta: 0n }
    expect(isAccepted(facts, holding({}), trade)).to.equal(true)
    expect(isAccepted(facts, holding({ cash: e18('2') - 1n }), trade)).to.equal(false)
    // What the account has elsewhere counts, and so does what is not settled of its position.
    const elsewhere = { ...valued, elsewhere: 1n }
    const short = { cash: e18('2') - 1n }
    expect(isAccepted(facts, holding({ ...short, valued: elsewhere }), trade)).to.equal(true)
    const unsettled = { ...valued, unsettled: 1n }
    expect(isAccepted(facts, holding({ ...short, valued: unsettled }), trade)).to.equal(true)
    const flat = holding({ position: 0n, cash: E18 - 1n, valued: unsettled })
    expect(isAccepted(facts, flat, trade)).to.equal(false)
    const { inAuction, position, cash, collateral: credit } = holding(short)
    expect(isAccepted(facts, { inAuction, position, cash, collateral: credit }, trade)).to.equal(
      true,
    )
    const posted = { ...facts, collateral: { ...collateral, initialScale: E18 } }
    const paid = { size: 0n, cashDelta: e18('-3') }
    const backed = holding({ cash: e18('3'), collateral: e18('10') })
    expect(isAccepted(posted, backed, paid)).to.equal(true)
    expect(isAccepted(posted, { ...backed, cash: e18('3') - 1n }, paid)).to.equal(false)
  })

  it('counts the lower confidence, from its threshold down, and collateral by that of the index', () => {
    const contingency = {
      perpThreshold: e18('0.6'),
      baseThreshold: e18('0.5'),
      factor: e18('0.2'),
      depegThreshold: 0n,
      depegFactor: 0n,
    }
    const facts = at('2', { contingency, collateral })
    const required = (sure: Partial<PerpetualFacts>) =>
      text(requirementOf({ ...facts, ...sure }, e18('10'), 'initial'))
    expect(required({ markConfidence: e18('0.6') })).to.equal('2')
    expect(required({ markConfidence: e18('0.5') })).to.equal('4')
    expect(required({ indexConfidence: e18('0.5') })).to.equal('4')
    const credit = (indexConfidence: bigint) =>
      text(creditOf({ ...facts, indexConfidence }, e18('10'), 'initial'))
    expect([credit(e18('0.5')), credit(e18('0.4'))]).to.deep.equal(['14.4', '12'])
    expect(creditOf(at('2'), e18('10'), 'initial')).to.equal(0n)
    expect(creditOf({ ...facts, indexConfidence: 0n }, 0n, 'initial')).to.equal(0n)
  })

  it('rounds down what is not exact, below zero as well', () => {
    const values = [0n, 1n, E18, E18 + 1n, -1n, -E18, -E18 - 1n]
    expect(values.map(floorE18)).to.deep.equal([0n, 0n, 1n, 1n, -1n, -1n, -2n])
    expect(quoteToMark(e18('3'), e18('-2'), e18('1'))).to.equal(e18('-4'))
  })

  it('has nothing unsettled before it was valued, and what was read at the mark of its reading', () => {
    const valued = { unsettled: 7n, mark: priceE18(E18), elsewhere: 0n }
    const holding = perpetualAccount({ position: 2n, valued })
    const unvalued = { inAuction: false, position: 2n, cash: 0n, collateral: 0n }
    expect(unsettledAt(unvalued, E18)).to.equal(0n)
    expect(unsettledAt(holding, E18)).to.equal(7n)
    expect(unsettledAt(holding, 2n * E18)).to.equal(7n + 2n - 1n)
  })

  it('has a liquidation price where maintenance margin is used up (PER-043)', () => {
    const facts = at('0.00065')
    const surplus = marginOf(facts, long, 'maintenance')
    const price = liquidationPrice(facts, { position: long.position, surplus })
    expect(formatDecimal(price ?? 0n, 10)).to.equal('0.0005882353')
    // A short whose cash is its notional.
    const short = account({ cash: e18('650'), position: e18('-1000000') })
    const ofShort = marginOf(facts, short, 'maintenance')
    expect(
      formatDecimal(
        liquidationPrice(facts, { position: short.position, surplus: ofShort }) ?? 0n,
        10,
      ),
    ).to.equal('0.0012206573')
    // A long whose cash is its notional has none, nor has an account without a position.
    const safe = account({ cash: e18('650'), position: e18('1000000') })
    const ofSafe = marginOf(facts, safe, 'maintenance')
    expect(liquidationPrice(facts, { position: safe.position, surplus: ofSafe })).to.equal(
      undefined,
    )
    expect(liquidationPrice(facts, { position: 0n, surplus: E18 })).to.equal(undefined)
    // A price that rounds to zero at ten decimals is none.
    const near = { position: E18, surplus: e18('0.935') - 1n }
    expect(liquidationPrice(at('1'), near)).to.equal(undefined)
    expect(liquidationPrice(at('1'), { ...near, surplus: e18('0.9349999999') })).to.equal(1n)
  })
})

describe('how far a perpetual account is from its liquidation', () => {
  /** The manager's maintenance margin when the mark moves there and the index by the same share; the chain's own products. */
  const surplusAt = (facts: PerpetualFacts, held: MarginBasis, mark: bigint): bigint => {
    const index = (facts.index * mark) / facts.mark
    const moved = { ...facts, mark: priceE18(mark), index: priceE18(index) }
    const profit = held.unsettled + floorE18((mark - facts.mark) * held.position)
    return marginOf(moved, { ...held, unsettled: profit }, 'maintenance')
  }
  const outlookOf = (facts: PerpetualFacts, held: MarginBasis) =>
    perpetualOutlook(facts, {
      ...held,
      maintenanceSurplus: marginOf(facts, held, 'maintenance'),
    })
  const long = account({ cash: e18('100'), position: e18('1000000') })

  it('is the mark at which the margin is used up, and its distance in shares of the mark', () => {
    const facts = at('0.00065')
    // 57.75 of margin over 935,000.
    expect(outlookOf(facts, long)).to.deep.equal({
      status: 'ok',
      price: 588_235_294_117_648n,
      distanceE6: 95_022n,
    })
    const short = account({ cash: e18('650'), position: e18('-1000000') })
    expect(outlookOf(facts, short)).to.deep.include({ status: 'ok', price: 1_220_657_276_995_305n })
  })

  it('lets collateral fall with the index', () => {
    const facts = at('0.00065', { collateral })
    const posted = account({ position: e18('1000000'), collateral: e18('1000000') })
    const cash = account({ position: e18('1000000'), cash: e18('520') })
    const fell = outlookOf(facts, posted)
    const stayed = outlookOf(facts, cash)
    if (fell.status !== 'ok') throw new Error('no price')
    expect(stayed.status === 'ok' && stayed.distanceE6 < fell.distanceE6).to.equal(false)
  })

  it('says why there is none', () => {
    const facts = at('0.00065')
    const flat = account({ cash: e18('1') })
    expect(outlookOf(facts, flat)).to.deep.equal({ status: 'no_position' })
    const owing = account({ position: e18('1000000'), cash: e18('1') })
    expect(outlookOf(facts, owing)).to.deep.equal({ status: 'due' })
    expect(perpetualOutlook(facts, long)).to.deep.equal({ status: 'stale' })
    const rich = account({ position: e18('1000000'), cash: e18('1000') })
    expect(outlookOf(facts, rich)).to.deep.equal({ status: 'none' })
  })

  it('is never above what the manager says: at the price there is margin, to a few units, beyond it none', () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 27n })
    fc.assert(
      fc.property(
        fc.tuple(fc.boolean(), amount, amount),
        fc.bigInt({ min: 0n, max: 10n ** 27n }),
        fc.bigInt({ min: 10n ** 11n, max: 10n ** 18n }),
        ([isLong, size, cash], posted, price) => {
          const facts = perpetualFacts({
            mark: priceE18(price),
            index: priceE18(price),
            collateral,
          })
          const held = account({ position: isLong ? size : -size, cash, collateral: posted })
          const outlook = outlookOf(facts, held)
          if (outlook.status !== 'ok') return
          // One unit of the price is worth this much of the account, and each truncated product one unit.
          const unit = (size + posted) / E18 + 6n
          expect(surplusAt(facts, held, outlook.price) >= -unit).to.equal(true)
          const beyond = outlook.price < price ? outlook.price - 2n : outlook.price + 2n
          if (beyond > 0n) expect(surplusAt(facts, held, beyond) <= unit).to.equal(true)
          const apart = outlook.price < price ? price - outlook.price : outlook.price - price
          expect(outlook.distanceE6 * price <= apart * 1_000_000n).to.equal(true)
        },
      ),
    )
  })
})
