import { expect } from 'chai'
import fc from 'fast-check'
import { isoTime } from '../../../core/time.js'

describe('isoTime', () => {
  it('writes what a date does, whatever was written before', () => {
    const near = fc.integer({ min: 0, max: 2_500 }).map((ms) => 1_790_000_000_000 + ms)
    const any = fc.integer({ min: 0, max: 8_640_000_000_000_000 })
    fc.assert(
      fc.property(fc.array(fc.oneof(near, any)), (times) => {
        const expected = times.map((ms) => new Date(ms).toISOString())
        expect(times.map(isoTime)).to.deep.equal(expected)
      }),
    )
  })
})
