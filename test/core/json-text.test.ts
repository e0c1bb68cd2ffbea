import { expect } from 'chai'
import fc from 'fast-check'
import { asciiJsonText, jsonText } from '../../core/json.js'

const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
const anyText = fc.oneof(fc.string(), fc.string({ unit: anyUnit }))

describe('text in JSON', () => {
  it('is what JSON makes of it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(jsonText(text)).to.equal(JSON.stringify(text))
      }),
      { numRuns: 1_000 },
    )
  })

  it('is the same in ASCII where that is asked for', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = asciiJsonText(text)
        expect(JSON.parse(json)).to.equal(text)
        expect(json).to.match(/^[\x20-\x7f]*$/)
      }),
      { numRuns: 1_000 },
    )
  })
})
