import { expect } from 'chai'
import fc from 'fast-check'
import { hashTypedData, domainSeparator as viemSeparator } from 'viem'
import { bytesToHex } from '../../../chain/signing/keys.js'
import {
  createActionHasher,
  domainSeparator,
  type CancelStatement,
} from '../../../chain/signing/verify-signature.js'
import { InvariantBroken } from '../../../core/assert.js'
import { arbitraryAction, arbitraryAddress } from '../../support/actions.js'
import { viemCancelAllDigest, viemCancelDigest } from '../../support/cancel-proofs.js'
import { ACTION_TYPES, MATCHING_DOMAIN } from '../../support/payloads.js'
import { runs } from '../../support/property-runs.js'

const domains = fc.record({
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  verifyingContract: arbitraryAddress,
})

describe('a word of typed data', () => {
  const hasher = createActionHasher({ chainId: 1, verifyingContract: `0x${'cc'.repeat(20)}` })
  const good: CancelStatement = {
    owner: `0x${'aa'.repeat(20)}`,
    signer: `0x${'bb'.repeat(20)}`,
    nonce: 0n,
    expiry: 2n ** 256n - 1n,
  }

  it('holds what fits, and breaks an invariant otherwise', () => {
    expect(() => hasher.cancelDigest(good)).not.to.throw()
    for (const nonce of [-1n, 2n ** 256n]) {
      expect(() => hasher.cancelDigest({ ...good, nonce })).to.throw(InvariantBroken, 'word')
    }
    const bad = [
      `0x${'aa'.repeat(19)}`,
      `0x${'aa'.repeat(20)}00`,
      `0x${'aa'.repeat(19)}zz`,
    ] as const
    for (const owner of bad) {
      expect(() => hasher.cancelDigest({ ...good, owner }), owner).to.throw(InvariantBroken)
    }
  })
})

describe('typed data of an action', () => {
  it('hashes every action on every domain as viem does (AUT-001)', () => {
    const property = fc.property(domains, arbitraryAction, (domain, action) => {
      const expected = hashTypedData({
        domain: { ...MATCHING_DOMAIN, ...domain },
        types: ACTION_TYPES,
        primaryType: 'Action',
        message: action,
      })
      expect(bytesToHex(createActionHasher(domain).digest(action))).to.equal(expected)
    })
    fc.assert(property, { numRuns: runs(200) })
  })

  it('hashes every cancel on every domain as viem does (CAN-011)', () => {
    const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    const cancels = fc.record({
      owner: arbitraryAddress,
      signer: arbitraryAddress,
      nonce: uint256,
      expiry: uint256,
    })
    const property = fc.property(domains, cancels, (domain, terms) => {
      const digest = bytesToHex(createActionHasher(domain).cancelDigest(terms))
      expect(digest).to.equal(viemCancelDigest(terms, domain))
    })
    fc.assert(property, { numRuns: runs(200) })
  })

  it('hashes every cancel of many orders as viem does', () => {
    const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    const cancels = fc.record({
      owner: arbitraryAddress,
      signer: arbitraryAddress,
      scope: fc.string({ unit: 'grapheme' }),
      issuedAt: uint256,
      expiry: uint256,
    })
    const property = fc.property(domains, cancels, (domain, terms) => {
      const digest = bytesToHex(createActionHasher(domain).cancelAllDigest(terms))
      expect(digest).to.equal(viemCancelAllDigest(terms, domain))
    })
    fc.assert(property, { numRuns: runs(200) })
  })

  it('computes the domain separator as viem does (AUT-002)', () => {
    const domain = { chainId: 8453, verifyingContract: `0x${'ab'.repeat(20)}` } as const
    expect(bytesToHex(domainSeparator(domain))).to.equal(
      viemSeparator({ domain: { ...MATCHING_DOMAIN, ...domain } }),
    )
  })

  it('does not mix up actions that one hasher hashes in turn', () => {
    const property = fc.property(domains, arbitraryAction, arbitraryAction, (domain, a, b) => {
      const hasher = createActionHasher(domain)
      const first = bytesToHex(hasher.digest(a))
      hasher.digest(b)
      expect(bytesToHex(hasher.digest(a))).to.equal(first)
    })
    fc.assert(property, { numRuns: runs(50) })
  })

  it('stops at a value that its word cannot hold instead of hashing another one', () => {
    const domain = { chainId: 1, verifyingContract: `0x${'ab'.repeat(20)}` } as const
    const [action] = fc.sample(arbitraryAction, 1)
    if (action === undefined) throw new Error('no sample')
    const digest = (nonce: bigint) => createActionHasher(domain).digest({ ...action, nonce })
    expect(() => digest(2n ** 256n)).to.throw(InvariantBroken)
    expect(() => digest(-1n)).to.throw(InvariantBroken)
  })
})
