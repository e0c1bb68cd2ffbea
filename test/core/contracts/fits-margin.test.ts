import { expect } from 'chai'
import {
  fitsMargin,
  isReduction,
  NO_FLIGHT,
  type AccountBearing,
} from '../../../core/contracts/margin.js'

type Leg = Parameters<typeof fitsMargin>[3]

interface Asked extends Partial<AccountBearing> {
  /** Equity and cash of the account; cash is as high as equity by default. */
  readonly equity?: bigint
  readonly cash?: bigint
  /** What the trade gains or loses at once. */
  readonly result?: bigint
  readonly mayBorrow?: boolean
  /** What of the result moves in cash; all of it by default. */
  readonly moved?: bigint
  /** Whether nothing is asked of a reduction. */
  readonly isFree?: boolean
}

/** Whether an account carries a trade of this size, where each unit of a position requires one unit of margin. */
function fits(size: bigint, asked: Asked = {}): boolean {
  const { equity = 10n, cash = equity, result = 0n, mayBorrow = true, isFree = true } = asked
  const { moved = result } = asked
  const model = {
    requirement: (_: undefined, position: bigint) => (position < 0n ? -position : position),
    resultOf: () => result,
    cashOf: () => moved,
    mayBorrow: () => mayBorrow,
    reducesFreely: () => isFree,
  }
  const bearing: AccountBearing = {
    position: 0n,
    standing: { cash, equity },
    own: NO_FLIGHT,
    opposite: NO_FLIGHT,
    ...asked,
  }
  return fitsMargin(model, undefined, bearing, { size } as Leg)
}

/** Matches in flight that lose so much, all of it in cash. */
const flight = (size: bigint, losses: bigint, cash = losses) => ({ size, losses, cash })

/** The largest size that an account carries. */
const largest = (asked: Asked): bigint => {
  let size = 0n
  while (fits(size + 1n, asked)) size += 1n
  return size
}

describe('margin for a trade', () => {
  it('is the equity less what the position then requires and what the trade loses (PER-023)', () => {
    expect(largest({})).to.equal(10n)
    expect(largest({ position: 4n })).to.equal(6n)
    expect(largest({ result: -3n })).to.equal(7n)
    expect(largest({ result: 2n })).to.equal(12n)
    expect(fits(-10n)).to.equal(true)
    expect(fits(-11n)).to.equal(false)
  })

  it('counts matches in flight on the same side as done, their losses included (PER-025)', () => {
    expect(largest({ own: flight(3n, -2n) })).to.equal(5n)
    expect(largest({ position: 1n, own: flight(3n, 0n) })).to.equal(6n)
  })

  it('counts the losses of the other side as far as what they release does not cover them (PER-026)', () => {
    const position = 6n
    expect(largest({ position, opposite: flight(-4n, -3n) })).to.equal(4n)
    expect(largest({ position, opposite: flight(-4n, -4n) })).to.equal(4n)
    expect(largest({ position, opposite: flight(-4n, -6n) })).to.equal(2n)
    // From zero the other side releases nothing.
    expect(largest({ opposite: flight(-4n, -3n) })).to.equal(7n)
  })

  it('asks for cash as well where the account may not borrow and the trade loses (PER-024)', () => {
    const lost = { own: flight(0n, -1n), opposite: flight(0n, -1n) }
    const asked = { ...lost, equity: 100n, cash: 5n, mayBorrow: false }
    expect(fits(1n, { ...asked, result: -3n })).to.equal(true)
    expect(fits(1n, { ...asked, result: -4n })).to.equal(false)
    expect(fits(1n, { ...asked, result: -4n, mayBorrow: true })).to.equal(true)
    expect(fits(1n, { ...asked, result: 0n, cash: -50n })).to.equal(true)
    expect(fits(1n, { ...asked, result: 1n, cash: -50n })).to.equal(true)
  })

  it('asks for what moves in cash alone, of a reduction as well', () => {
    const asked = { cash: 5n, mayBorrow: false, isFree: false, own: flight(0n, -9n, -1n) }
    const opposite = flight(0n, -9n, -1n)
    expect(fits(1n, { ...asked, opposite, equity: 100n, result: -9n, moved: -3n })).to.equal(true)
    expect(fits(1n, { ...asked, opposite, equity: 100n, result: -9n, moved: -4n })).to.equal(false)
    const reduced = { ...asked, position: 6n, equity: 100n }
    expect(fits(-1n, { ...reduced, result: -4n })).to.equal(true)
    expect(fits(-1n, { ...reduced, result: -5n })).to.equal(false)
  })

  it('is asked of a reduction that pays, whichever match is carried out first', () => {
    const asked = { position: 6n, isFree: false, result: -1n, cash: 100n }
    expect(fits(-2n, { ...asked, equity: 5n })).to.equal(true)
    expect(fits(-2n, { ...asked, equity: 4n })).to.equal(false)
    // What the others of its side release is not counted before they are settled, what they lose is.
    expect(fits(-2n, { ...asked, equity: 5n, own: flight(-3n, 0n) })).to.equal(true)
    expect(fits(-2n, { ...asked, equity: 4n, own: flight(-3n, 0n) })).to.equal(false)
    expect(fits(-2n, { ...asked, equity: 5n, own: flight(-3n, -1n) })).to.equal(false)
    // The other side may come first, and the position is larger then.
    expect(fits(-2n, { ...asked, equity: 8n, opposite: flight(2n, -1n) })).to.equal(true)
    expect(fits(-2n, { ...asked, equity: 7n, opposite: flight(2n, -1n) })).to.equal(false)
  })

  it('is asked of a trade through zero as well, before the others of its side have reduced', () => {
    const asked = { position: -10n, own: flight(9n, 0n), result: -1n }
    expect(fits(2n, { ...asked, equity: 9n, isFree: false })).to.equal(true)
    expect(fits(2n, { ...asked, equity: 8n, isFree: false })).to.equal(false)
    expect(fits(2n, { ...asked, equity: 2n, isFree: true })).to.equal(true)
  })

  it('is there for every reduction, and while the market has no prices (PER-027, PER-042)', () => {
    expect(fits(-6n, { position: 6n, equity: -100n })).to.equal(true)
    expect(fits(-7n, { position: 6n, equity: -100n })).to.equal(false)
    // What is in flight on the same side is no longer there to be reduced.
    expect(fits(-6n, { position: 6n, equity: -100n, own: flight(-1n, 0n) })).to.equal(false)
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
