import { expect } from 'chai'
import fc from 'fast-check'
import { deadlineMs, LAST_DATE_SEC } from '../../core/time.js'

describe('deadlineMs', () => {
  it('is exact up to the last second of a date, and stays there (MAT-038)', () => {
    const any = fc.oneof(fc.maxSafeNat(), fc.nat(LAST_DATE_SEC))
    fc.assert(
      fc.property(any, (sec) => {
        const ms = deadlineMs(sec)
        expect(Number.isSafeInteger(ms)).to.equal(true)
        expect(new Date(ms).getTime()).to.equal(ms)
        const counted = sec < LAST_DATE_SEC ? sec : LAST_DATE_SEC
        expect(BigInt(ms)).to.equal(BigInt(counted) * 1_000n)
      }),
    )
  })

  it('takes what is not an exact number for the last second', () => {
    expect(deadlineMs(Infinity)).to.equal(LAST_DATE_SEC * 1_000)
  })
})
