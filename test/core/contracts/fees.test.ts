import { expect } from 'chai'
import fc from 'fast-check'
import { feePerUnitFloor, notionalFeeFloor, notionalFloor } from '../../../core/contracts/fees.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'

const anyPrice = fc.bigInt({ min: 1n, max: 10n ** 24n }).map(priceE18)
const anyAmount = fc.bigInt({ min: 1n, max: 10n ** 30n }).map(amountE18)

/** The greatest n with n × divisor ≤ value. */
const isFloorOf = (n: bigint, value: bigint, divisor: bigint): boolean =>
  n * divisor <= value && value < (n + 1n) * divisor

describe('notional and fees', () => {
  it('round the notional down before the fee is taken of it, and the fee down again (MON-017)', () => {
    const half = amountE18(E18 / 2n)
    // 333.5 → 333, of which 30 basis points are 0.999; of 333.5 they would be 1.0005.
    expect(notionalFloor(priceE18(667n), half)).to.equal(333n)
    expect(notionalFeeFloor(priceE18(667n), half, 30)).to.equal(0n)
    // 334 → 1.002.
    expect(notionalFeeFloor(priceE18(668n), half, 30)).to.equal(1n)
    // 666.5 → 666 → 1.998.
    expect(notionalFeeFloor(priceE18(1_333n), half, 30)).to.equal(1n)
    expect(notionalFeeFloor(priceE18(1_334n), half, 30)).to.equal(2n)
  })

  it('are exact to the last unit for any price, amount and rate (MON-017)', () => {
    fc.assert(
      fc.property(
        anyPrice,
        anyAmount,
        fc.integer({ min: 0, max: 10_000 }),
        (price, amount, bps) => {
          const notional = notionalFloor(price, amount)
          expect(isFloorOf(notional, price * amount, E18)).to.equal(true)
          const fee = notionalFeeFloor(price, amount, bps)
          expect(isFloorOf(fee, notional * BigInt(bps), 10_000n)).to.equal(true)
        },
      ),
    )
  })

  it('round the fee per unit down (MON-018)', () => {
    expect(feePerUnitFloor(quoteE18(2n), amountE18(3n * E18))).to.equal(0n)
    expect(feePerUnitFloor(quoteE18(3n), amountE18(3n * E18))).to.equal(1n)
    expect(feePerUnitFloor(quoteE18(10n), amountE18(3n))).to.equal(3_333_333_333_333_333_333n)
  })
})
