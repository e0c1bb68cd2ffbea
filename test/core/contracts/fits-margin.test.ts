import { expect } from 'chai'
import { fitsMargin, isReduction, NO_FLIGHT, type Bearing } from '../../../core/contracts/margin.js'

type Leg = Parameters<typeof fitsMargin>[3]

interface Asked extends Partial<Bearing> {
  /** Equity and cash of the account; cash is as high as equity by default. */
  readonly equity?: bigint
  readonly cash?: bigint
  /** What the trade gains or loses at once. */
  readonly result?: bigint
  readonly mayBorrow?: boolean
}

/** Whether an account carries a trade of this size, where each unit of a position requires one unit of margin. */
function fits(size: bigint, asked: Asked = {}): boolean {
  const { equity = 10n, cash = equity, result = 0n, mayBorrow = true } = asked
  const model = {
    requirement: (_: undefined, position: bigint) => (position < 0n ? -position : position),
    resultOf: () => result,
    mayBorrow: () => mayBorrow,
  }
  const bearing: Bearing = {
    ...{ position: 0n, standing: { cash, equity }, own: NO_FLIGHT, opposite: NO_FLIGHT },
    ...asked,
  }
  return fitsMargin(model, undefined, bearing, { size } as Leg)
}

/** The largest size that an account carries. */
const largest = (asked: Asked): bigint => {
  let size = 0n
  while (fits(size + 1n, asked)) size += 1n
  return size
}

describe('margin for a trade', () => {
  it('is the equity less what the position then requires and what the trade loses', () => {
    expect(largest({})).to.equal(10n)
    expect(largest({ position: 4n })).to.equal(6n)
    expect(largest({ result: -3n })).to.equal(7n)
    expect(largest({ result: 2n })).to.equal(12n)
    expect(fits(-10n)).to.equal(true)
    expect(fits(-11n)).to.equal(false)
  })

  it('counts matches in flight on the same side as done, their losses included', () => {
    expect(largest({ own: { size: 3n, losses: -2n } })).to.equal(5n)
    expect(largest({ position: 1n, own: { size: 3n, losses: 0n } })).to.equal(6n)
  })

  it('counts the losses of the other side as far as what they release does not cover them', () => {
    const position = 6n
    expect(largest({ position, opposite: { size: -4n, losses: -3n } })).to.equal(4n)
    expect(largest({ position, opposite: { size: -4n, losses: -4n } })).to.equal(4n)
    expect(largest({ position, opposite: { size: -4n, losses: -6n } })).to.equal(2n)
    // From zero the other side releases nothing.
    expect(largest({ opposite: { size: -4n, losses: -3n } })).to.equal(7n)
  })

  it('asks for cash as well where the account may not borrow and the trade loses', () => {
    const lost = { own: { size: 0n, losses: -1n }, opposite: { size: 0n, losses: -1n } }
    const asked = { ...lost, equity: 100n, cash: 5n, mayBorrow: false }
    expect(fits(1n, { ...asked, result: -3n })).to.equal(true)
    expect(fits(1n, { ...asked, result: -4n })).to.equal(false)
    expect(fits(1n, { ...asked, result: -4n, mayBorrow: true })).to.equal(true)
    expect(fits(1n, { ...asked, result: 0n, cash: -50n })).to.equal(true)
    expect(fits(1n, { ...asked, result: 1n, cash: -50n })).to.equal(true)
  })

  it('is there for every reduction, and while the market has no prices', () => {
    expect(fits(-6n, { position: 6n, equity: -100n })).to.equal(true)
    expect(fits(-7n, { position: 6n, equity: -100n })).to.equal(false)
    // What is in flight on the same side is no longer there to be reduced.
    expect(fits(-6n, { position: 6n, equity: -100n, own: { size: -1n, losses: 0n } })).to.equal(
      false,
    )
    expect(fits(1_000n, { standing: undefined })).to.equal(true)
  })
})

describe('a reduction', () => {
  it('brings a position toward zero and not beyond', () => {
    const sizes = [-11n, -10n, -1n, 0n, 1n, 10n, 11n]
    const reducing = (position: bigint) => sizes.filter((size) => isReduction(position, size))
    expect(reducing(10n)).to.deep.equal([-10n, -1n, 0n])
    expect(reducing(-10n)).to.deep.equal([0n, 1n, 10n])
    expect(reducing(0n)).to.deep.equal([0n])
  })
})
