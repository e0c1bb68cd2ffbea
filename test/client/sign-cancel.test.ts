import { expect } from 'chai'
import { recoverAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signCancel } from '../../client/index.js'
import type { Hex } from '../../core/action.js'
import { readCancel } from '../../core/entry/read-cancels.js'
import { testDomain, testPrivateKey } from '../support/builders.js'
import { viemCancelDigest } from '../support/cancel-proofs.js'

const domain = { chainId: testDomain.chainId, matching: testDomain.verifyingContract }
const owner = privateKeyToAccount(testPrivateKey)

describe('sign cancel', () => {
  it('makes a body that the venue reads, signed over owner, signer, nonce and expiry', async () => {
    const body = await signCancel(owner, domain, { nonce: '12', expirySec: 1_790_000_000 })
    const { address } = owner
    expect(body).to.include({ owner_address: address, signer_address: address, nonce: '12' })
    const hash = viemCancelDigest({
      owner: address,
      signer: address,
      nonce: 12n,
      expiry: 1_790_000_000n,
    })
    expect(await recoverAddress({ hash, signature: body.signature as Hex })).to.equal(address)
    expect(readCancel(body)).to.deep.include({ nonce: 12n, reason: 'unspecified' })
  })

  it('signs for an owner by a session key, and passes the reason on', async () => {
    const key = privateKeyToAccount(generatePrivateKey())
    const terms = { nonce: '1', expirySec: 5, owner: owner.address, reason: 'repriced' }
    const body = await signCancel(key, domain, terms)
    expect(body).to.include({ owner_address: owner.address, signer_address: key.address })
    expect(body.reason).to.equal('repriced')
    const signed = { owner: owner.address, signer: key.address, nonce: 1n, expiry: 5n }
    const hash = viemCancelDigest(signed)
    expect(await recoverAddress({ hash, signature: body.signature as Hex })).to.equal(key.address)
  })
})
