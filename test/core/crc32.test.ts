import { expect } from 'chai'
import fc from 'fast-check'
import { crc32 as ofZip } from 'node:zlib'
import { crc32 } from '../../core/crc32.js'

describe('crc32', () => {
  it('is that of zip, of any ASCII text', () => {
    expect(crc32('')).to.equal(0)
    expect(crc32('123456789')).to.equal(0xcbf43926)
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 300 }), (text) => {
        expect(crc32(text)).to.equal(ofZip(text))
      }),
    )
  })
})
