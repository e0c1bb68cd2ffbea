import { expect } from 'chai'
import {
  cngnValue,
  isFillAccepted,
  requirementOf,
  surplusOf,
  variationOf,
  type FillBearer,
} from '../../../core/contracts/future-margin.js'
import { E18, priceE18 } from '../../../core/money.js'
import { e18 } from '../../support/perpetual.js'

const INDEX = priceE18(e18('1500'))
const TERMS = { rate: e18('0.1'), factor: e18('0.9') }

/** An account of a contract that is 1,000 USDC and requires 100, and a fill at the mark. */
function accepts(
  bearer: Partial<FillBearer>,
  size: bigint,
  price: bigint = INDEX,
  fee = 0n,
): boolean {
  const account: FillBearer = { position: 0n, otherSize: 0n, usdc: 0n, cngn: 0n, ...bearer }
  return isFillAccepted(account, { size, price, fee }, { mark: INDEX, index: INDEX }, TERMS)
}

describe('margin of the futures manager', () => {
  it('counts cNGN that is owned with the factor, rounded down, and that is owed by it, rounded up (FUT-024)', () => {
    expect(cngnValue(e18('1500'), INDEX, TERMS.factor)).to.equal(e18('0.9'))
    expect(cngnValue(e18('-1350'), INDEX, TERMS.factor)).to.equal(-E18)
    expect(cngnValue(1n, INDEX, TERMS.factor)).to.equal(0n)
    expect(cngnValue(-1n, INDEX, TERMS.factor)).to.equal(-2n)
    expect(cngnValue(0n, INDEX, TERMS.factor)).to.equal(0n)
  })

  it('requires a rate of the notional, rounded up', () => {
    expect(requirementOf(E18, TERMS.rate)).to.equal(e18('100'))
    expect(requirementOf(1n, 10n ** 14n + 1n)).to.equal(1n)
    expect(requirementOf(0n, TERMS.rate)).to.equal(0n)
  })

  it('is what is left of USDC and cNGN, where the index counts only if there is cNGN', () => {
    const held = { usdc: e18('120'), size: E18 }
    expect(surplusOf({ ...held, cngn: 0n }, 0n, TERMS)).to.equal(e18('20'))
    expect(surplusOf({ ...held, cngn: e18('1500') }, INDEX, TERMS)).to.equal(e18('20.9'))
    expect(surplusOf({ ...held, cngn: e18('-1350') }, INDEX, TERMS)).to.equal(e18('19'))
  })

  it('moves cNGN by the whole steps of a position', () => {
    expect(variationOf(2n * E18, INDEX, e18('1501'))).to.equal(e18('2000'))
    expect(variationOf(-2n * E18, INDEX, e18('1501'))).to.equal(e18('-2000'))
  })
})

describe('a fill that the futures manager accepts', () => {
  it('leaves initial margin of all positions, its fee paid', () => {
    expect(accepts({ usdc: e18('100') }, E18)).to.equal(true)
    expect(accepts({ usdc: e18('100') - 1n }, E18)).to.equal(false)
    expect(accepts({ usdc: e18('100') }, -E18)).to.equal(true)
    expect(accepts({ usdc: e18('101') }, E18, INDEX, E18)).to.equal(true)
    expect(accepts({ usdc: e18('101') - 1n }, E18, INDEX, E18)).to.equal(false)
    expect(accepts({ usdc: e18('200'), otherSize: E18 }, E18)).to.equal(true)
    expect(accepts({ usdc: e18('200') - 1n, otherSize: E18 }, E18)).to.equal(false)
    expect(accepts({ usdc: e18('200'), position: E18 }, E18)).to.equal(true)
    expect(accepts({ usdc: e18('200') - 1n, position: -E18 }, -E18)).to.equal(false)
  })

  it('counts what its price is better or worse than the mark', () => {
    // 1.35 cNGN worse for a thousand USDC: 1,350 cNGN, as a debt one USDC.
    expect(accepts({ usdc: e18('101') }, E18, e18('1501.35'))).to.equal(true)
    expect(accepts({ usdc: e18('101') - 1n }, E18, e18('1501.35'))).to.equal(false)
    expect(accepts({ usdc: e18('99.1') }, E18, e18('1498.5'))).to.equal(true)
  })

  it('pays its fee in USDC, whatever the account has besides', () => {
    const rich = { cngn: e18('100000000') }
    expect(accepts({ ...rich, usdc: E18 }, E18, INDEX, E18)).to.equal(true)
    expect(accepts({ ...rich, usdc: E18 - 1n }, E18, INDEX, E18)).to.equal(false)
  })

  it('is one that closes all and leaves no debt', () => {
    expect(accepts({ position: E18 }, -E18)).to.equal(true)
    expect(accepts({ position: E18, usdc: E18 }, -E18, INDEX, E18)).to.equal(true)
    expect(accepts({ position: E18, cngn: e18('1350') }, -E18, e18('1498.65'))).to.equal(true)
    expect(accepts({ position: E18, cngn: e18('1349') }, -E18, e18('1498.65'))).to.equal(false)
    expect(accepts({ position: E18, otherSize: E18, usdc: 1n }, -E18, INDEX, 1n)).to.equal(false)
  })

  it('is one that reduces at mark and index or better without a fee, however weak the account is (FUT-027)', () => {
    const half = E18 / 2n
    expect(accepts({ position: E18 }, -half)).to.equal(true)
    expect(accepts({ position: -E18 }, half)).to.equal(true)
    expect(accepts({ position: E18 }, -half, e18('1501'))).to.equal(true)
    expect(accepts({ position: E18 }, -half, e18('1499'))).to.equal(false)
    expect(accepts({ position: E18, usdc: 1n }, -half, INDEX, 1n)).to.equal(false)
    expect(accepts({ position: E18 }, half)).to.equal(false)
    expect(accepts({ position: -E18 }, -half)).to.equal(false)
    // Through zero is not a reduction.
    expect(accepts({ position: E18 }, -2n * E18)).to.equal(false)
    expect(accepts({ position: -E18 }, 2n * E18)).to.equal(false)
    // Nothing is left of this series, and the other positions stay.
    expect(accepts({ position: E18, otherSize: E18 }, -E18)).to.equal(true)
    expect(accepts({ otherSize: E18 }, E18)).to.equal(false)
  })
})
