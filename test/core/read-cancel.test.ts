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

  it('reads a proof, its expiry as a number or as digits, and ignores its fields without a signature', () => {
    const bare = { owner_address: owner, nonce: '7', signer_address: owner, expiry: 'x' }
    expect(readCancel(bare)).not.to.have.property('proof')
    for (const expiry of [1_900_000_000, '1900000000']) {
      expect(readCancel({ ...bare, expiry, signature: '0xAb' })).to.deep.include({
        proof: { signer: owner.toLowerCase(), expirySec: 1_900_000_000n, signature: '0xAb' },
      })
    }
  })

  const signed = { owner_address: owner, nonce: '7', signature: '0x' }
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
    [signed, 'signer_address is required'],
    [{ ...signed, signer_address: owner }, 'expiry is required'],
    [{ ...signed, signer_address: owner, expiry: 9, signature: 5 }, 'signature must be a string'],
    [
      { ...signed, signer_address: '0x1', expiry: 9 },
      'signer_address must be 0x followed by 40 hex digits',
    ],
    [{ ...signed, signer_address: owner, expiry: 1.5 }, 'expiry must be an integer'],
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
