import { expect } from 'chai'
import {
  amountE18,
  E18,
  feePerUnitE18,
  mulDivCeil,
  mulDivFloor,
  priceE18,
  quoteE18,
  tokenUnits6,
  unitsToE18,
} from '../../core/money.js'

describe('products over a divisor', () => {
  it('are rounded down or up, and only where something is left over', () => {
    expect(mulDivFloor(7n, 3n, 4n)).to.equal(5n)
    expect(mulDivCeil(7n, 3n, 4n)).to.equal(6n)
    expect([mulDivFloor(8n, 3n, 4n), mulDivCeil(8n, 3n, 4n)]).to.deep.equal([6n, 6n])
    expect([mulDivFloor(0n, 3n, 4n), mulDivCeil(0n, 3n, 4n)]).to.deep.equal([0n, 0n])
    expect([mulDivFloor(1n, 1n, 4n), mulDivCeil(1n, 1n, 4n)]).to.deep.equal([0n, 1n])
  })
})

describe('an amount with its scale', () => {
  it('is the integer that it was made of', () => {
    for (const value of [0n, -3n, E18]) {
      const scaled = [priceE18, amountE18, quoteE18, feePerUnitE18, tokenUnits6]
      expect(new Set(scaled.map((of): bigint => of(value)))).to.deep.equal(new Set([value]))
    }
  })
})

describe('token units', () => {
  it('are millionths at the scale of the chain (MON-023)', () => {
    expect(unitsToE18(tokenUnits6(1n))).to.equal(10n ** 12n)
    expect(unitsToE18(tokenUnits6(1_000_000n))).to.equal(10n ** 18n)
  })
})
