import { expect } from 'chai'
import fc from 'fast-check'
import { jsonText } from '../../core/json.js'
import { runs } from '../support/property-runs.js'

const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
const anyText = fc.oneof(fc.string(), fc.string({ unit: anyUnit }))

describe('text in JSON', () => {
  it('is what JSON makes of it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(jsonText(text)).to.equal(JSON.stringify(text))
      }),
      { numRuns: runs(1_000) },
    )
  })
})
