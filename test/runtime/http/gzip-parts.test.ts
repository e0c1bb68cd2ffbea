import { expect } from 'chai'
import fc from 'fast-check'
import { crc32, gunzipSync } from 'node:zlib'
import { bodyPart, gzipOf } from '../../../runtime/http/gzip-parts.js'

const gzip = (texts: readonly Uint8Array[]): Buffer => Buffer.concat(gzipOf(texts.map(bodyPart)))

describe('gzip of parts that were deflated before', () => {
  it('is that of the parts after each other, in any order and as often as they stand', () => {
    const text = fc.uint8Array({ maxLength: 3_000 })
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), (texts) => {
        for (const each of [texts, texts.toReversed(), [...texts, ...texts]]) {
          expect(gunzipSync(gzip(each)).equals(Buffer.concat(each))).to.equal(true)
        }
      }),
    )
  })

  it('is one member with the checksum and the length of the whole', () => {
    const whole = Buffer.from('bids'.repeat(50_000))
    const zipped = gzip([whole.subarray(0, 7), whole.subarray(7, 120_000), whole.subarray(120_000)])
    expect(zipped.subarray(0, 4).toString('hex')).to.equal('1f8b0800')
    expect(zipped.readUInt32LE(zipped.length - 8)).to.equal(crc32(whole))
    expect(zipped.readUInt32LE(zipped.length - 4)).to.equal(whole.length)
    expect(zipped.indexOf(Buffer.from('1f8b08', 'hex'), 1)).to.equal(-1)
    expect(zipped.length).to.be.lessThan(whole.length / 50)
  })

  it('copies and deflates nothing', () => {
    const part = bodyPart(Buffer.from('"bids":['))
    expect(gzipOf([part, part]).filter((piece) => piece === part.deflated)).to.have.length(2)
  })

  it('refers from no part to the one before', () => {
    const text = Buffer.from('the same text')
    const [, , second] = gzipOf([bodyPart(text), bodyPart(text)])
    const alone = gzipOf([{ ...bodyPart(text), deflated: second ?? text }])
    expect(gunzipSync(Buffer.concat(alone)).equals(text)).to.equal(true)
  })
})
