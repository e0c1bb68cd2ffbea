import { expect } from 'chai'
import fc from 'fast-check'
import { readCancel } from '../../../core/entry/read-cancels.js'

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

  it('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (address, nonce, reason) => {
        const read = readCancel({ owner_address: address, nonce, reason })
        expect('refusal' in read || read.nonce >= 0n).to.equal(true)
      }),
    )
  })
})
