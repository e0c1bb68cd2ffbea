import { expect } from 'chai'
import { readAuthFrame } from '../../../core/entry/auth-frame.js'
import { MAX_SIGNATURE_BYTES } from '../../../core/limits.js'

const address = `0x${'aB'.repeat(20)}`
const good = { address, signature: '0x12', nonce: 'n', issued_at: 1, expiry: 2 }

describe('the fields of a frame', () => {
  it('are read as sent', () => {
    expect(readAuthFrame({ ...good, more: 1 })).to.deep.equal({
      frame: { address, signature: '0x12', nonce: 'n', issuedAt: 1, expiry: 2 },
    })
  })

  it('may be as long as their bounds, and as early as 1970', () => {
    const longest = { signature: 'a'.repeat(2 + 2 * MAX_SIGNATURE_BYTES), nonce: 'n'.repeat(128) }
    expect(readAuthFrame({ ...good, ...longest, issued_at: 0 })).to.deep.equal({
      frame: { address, ...longest, issuedAt: 0, expiry: 2 },
    })
  })

  it('are each refused when they are not what they should be', () => {
    const wrong: [unknown, RegExp][] = [
      [null, /JSON object/],
      [[good], /JSON object/],
      ['x', /JSON object/],
      [{ ...good, address: undefined }, /^address/],
      [{ ...good, address: '0x12' }, /^address/],
      [{ ...good, address: 12 }, /^address/],
      [{ ...good, address: [address] }, /^address/],
      [{ ...good, signature: undefined }, /^signature/],
      [{ ...good, signature: 'a'.repeat(3 + 2 * MAX_SIGNATURE_BYTES) }, /^signature/],
      [{ ...good, nonce: undefined }, /^nonce is required/],
      [{ ...good, nonce: '' }, /^nonce is required/],
      [{ ...good, nonce: 7 }, /^nonce is required/],
      [{ ...good, nonce: 'a\nIssued At: 5' }, /^nonce must/],
      [{ ...good, nonce: 'n'.repeat(129) }, /^nonce must/],
      [{ ...good, issued_at: '1' }, /^issued_at/],
      [{ ...good, issued_at: 1.5 }, /^issued_at/],
      [{ ...good, issued_at: -1 }, /^issued_at/],
      [{ ...good, expiry: undefined }, /^expiry/],
      [{ ...good, expiry: 2 ** 60 }, /^expiry/],
      [Object.create(good), /^address/],
    ]
    for (const [value, reason] of wrong) {
      const read = readAuthFrame(value)
      expect('reason' in read && read.reason).to.match(reason)
    }
  })
})
