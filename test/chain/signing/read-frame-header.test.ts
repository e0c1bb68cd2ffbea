import { expect } from 'chai'
import { decodeFrameHeader, readFrameHeader } from '../../../chain/signing/verify-frame.js'
import { addressOf, alicesKey, signedAuth, type FrameTerms } from '../../support/auth-frames.js'

const NOW_SEC = 1_795_000_000
const words = { domain: 'localhost', product: 'service' }
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const read = (header: string) => readFrameHeader(header, { words, nowMs: () => NOW_SEC * 1_000 })
const readSigned = async (terms: FrameTerms = {}) =>
  read(encoded(await signedAuth({ purpose: 'history', issuedAt: NOW_SEC - 10, ...terms })))

describe('the header of a signed frame', () => {
  it('gives the owner of a frame for the history', async () => {
    expect(await readSigned()).to.deep.equal({ owner: addressOf(alicesKey) })
  })

  it('is malformed when it is not JSON in base64url', () => {
    const malformed = { reason: 'must be base64url-encoded JSON', isMalformed: true }
    for (const header of ['{}', 'e30 ', ' e30', '*', '====', encoded('x').slice(0, -2), '_w']) {
      expect(read(header), header).to.deep.equal(malformed)
    }
    expect(read('e30=')).to.not.deep.equal(malformed)
  })

  it('is read up to two thousand characters', () => {
    expect(encoded('x'.repeat(1_534))).to.have.length(2_048)
    expect(decodeFrameHeader(encoded('x'.repeat(1_534)))).to.equal('x'.repeat(1_534))
    expect(decodeFrameHeader(encoded('x'.repeat(1_535)))).to.equal(undefined)
  })

  it('is refused, but well-formed, when the frame is incomplete, late, or of another purpose (AUT-025)', async () => {
    expect(read(encoded([]))).to.deep.equal({
      reason: 'the frame must be a JSON object',
      isMalformed: false,
    })
    const unsigned = { reason: 'signature does not match address', isMalformed: false }
    expect(await readSigned({ purpose: 'socket' })).to.deep.equal(unsigned)
    expect(await readSigned({ domain: 'elsewhere' })).to.deep.equal(unsigned)
    const late = await readSigned({ expiry: NOW_SEC - 1 })
    expect(late).to.include({ isMalformed: false }).and.to.not.have.property('owner')
  })
})
