import { expect } from 'chai'
import { mulDivCeil, mulDivFloor, tokenUnits6, unitsToE18 } from '../../core/money.js'

describe('products over a divisor', () => {
  it('are rounded down or up, and only where something is left over', () => {
    expect(mulDivFloor(7n, 3n, 4n)).to.equal(5n)
    expect(mulDivCeil(7n, 3n, 4n)).to.equal(6n)
    expect([mulDivFloor(8n, 3n, 4n), mulDivCeil(8n, 3n, 4n)]).to.deep.equal([6n, 6n])
    expect([mulDivFloor(0n, 3n, 4n), mulDivCeil(0n, 3n, 4n)]).to.deep.equal([0n, 0n])
    expect([mulDivFloor(1n, 1n, 4n), mulDivCeil(1n, 1n, 4n)]).to.deep.equal([0n, 1n])
  })
})

describe('token units', () => {
  it('are millionths at the scale of the chain', () => {
    expect(unitsToE18(tokenUnits6(1n))).to.equal(10n ** 12n)
    expect(unitsToE18(tokenUnits6(1_000_000n))).to.equal(10n ** 18n)
  })
})
