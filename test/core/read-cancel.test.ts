import { expect } from 'chai'
import fc from 'fast-check'
import { readCancel } from '../../core/read-cancel.js'

const owner = `0x${'aB'.repeat(20)}`

describe('readCancel', () => {
  it('reads owner and nonce, and fills in the reason', () => {
    expect(readCancel({ owner_address: owner, nonce: '007', other: 1 })).to.deep.equal({
      owner: owner.toLowerCase(),
      nonce: 7n,
      reason: 'unspecified',
      serviceTagged: false,
    })
  })

  it('keeps a reason and notices the service tag', () => {
    const body = { owner_address: owner, nonce: '7', reason: 'requote', service: 'bot' }
    expect(readCancel(body)).to.include({ reason: 'requote', serviceTagged: true })
  })

  const refused: readonly (readonly [unknown, string])[] = [
    [[], 'invalid JSON body'],
    [null, 'invalid JSON body'],
    [{ nonce: '7' }, 'owner_address is required'],
    [{ owner_address: owner }, 'nonce is required'],
    [{ owner_address: '0x12', nonce: '7' }, 'owner_address must be 0x followed by 40 hex digits'],
    [
      { owner_address: owner, nonce: '0x7' },
      'invalid integer value for nonce: expected a string of base-10 digits in range, got "0x7"',
    ],
    [
      { owner_address: owner, nonce: '7', reason: 'a\nb' },
      'reason must be at most 128 characters of well-formed text without control characters',
    ],
    [
      { owner_address: owner, nonce: '7', reason: 'x'.repeat(129) },
      'reason must be at most 128 characters of well-formed text without control characters',
    ],
  ]
  for (const [body, message] of refused) {
    it(`refuses ${JSON.stringify(body).slice(0, 60)}: ${message}`, () => {
      expect(readCancel(body)).to.have.nested.property('refusal.message', message)
    })
  }

  it('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (address, nonce, reason) => {
        const read = readCancel({ owner_address: address, nonce, reason })
        expect('refusal' in read || read.nonce >= 0n).to.equal(true)
      }),
    )
  })
})
