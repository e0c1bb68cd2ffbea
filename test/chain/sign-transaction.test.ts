import { expect } from 'chai'
import fc from 'fast-check'
import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createTransactionSigner } from '../../chain/sign-transaction.js'
import { arbitraryAddress, arbitraryBytes, arbitraryKey } from '../support/actions.js'

const wei = fc.bigInt({ min: 0n, max: 10n ** 15n })

const requests = fc.record({
  to: arbitraryAddress,
  data: arbitraryBytes,
  evmNonce: fc.nat(),
  gasLimit: fc.bigInt({ min: 21_000n, max: 16_777_216n }),
  maxPriorityFeePerGas: wei,
  maxFeePerGas: wei.map((fee) => fee + 10n ** 15n),
})

describe('transaction signer', () => {
  it('signs every request into the bytes and the hash that viem gives it', async () => {
    const property = fc.asyncProperty(arbitraryKey, requests, async (key, request) => {
      const account = privateKeyToAccount(key)
      const signer = createTransactionSigner(key, 8453)
      expect(signer.address).to.equal(account.address.toLowerCase())
      const { evmNonce: nonce, gasLimit: gas, ...rest } = request
      const expected = await account.signTransaction({
        ...rest,
        type: 'eip1559',
        chainId: 8453,
        nonce,
        gas,
      })
      expect(signer.sign(request)).to.deep.equal({ raw: expected, hash: keccak256(expected) })
    })
    await fc.assert(property, { numRuns: 100 })
  })
})
