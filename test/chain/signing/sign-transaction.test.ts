import { expect } from 'chai'
import fc from 'fast-check'
import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  createTransactionSigner,
  requestOf,
  type TransactionRequest,
} from '../../../chain/signing/keys.js'
import { arbitraryAddress, arbitraryBytes, arbitraryKey } from '../../support/actions.js'
import { runs } from '../../support/property-runs.js'

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
    await fc.assert(property, { numRuns: runs(100) })
  })

  it('reads back the request from the bytes, and refuses bytes of another kind', async () => {
    const key = `0x${'01'.repeat(32)}` as const
    const signer = createTransactionSigner(key, 1)
    const full: TransactionRequest = {
      to: signer.address,
      data: '0x01',
      value: 9n,
      evmNonce: 3,
      gasLimit: 21_000n,
      maxFeePerGas: 5n,
      maxPriorityFeePerGas: 4n,
    }
    expect(requestOf(signer.sign(full).raw)).to.deep.equal(full)
    const least = { ...full, data: '0x', value: 0n, evmNonce: 0, maxPriorityFeePerGas: 0n } as const
    expect(requestOf(signer.sign(least).raw)).to.deep.equal(least)
    const account = privateKeyToAccount(key)
    const terms = { to: signer.address, gas: 21_000n, chainId: 1, nonce: 0 } as const
    const fees = { maxFeePerGas: 5n, maxPriorityFeePerGas: 1n }
    const foreign = await Promise.all([
      account.signTransaction({ ...terms, type: 'legacy', gasPrice: 5n }),
      account.signTransaction({ ...terms, ...fees, type: 'eip1559', to: null }),
      account.signTransaction({ ...terms, ...fees, type: 'eip1559', gas: 0n }),
    ])
    for (const raw of foreign)
      expect(() => requestOf(raw)).to.throw('not a transaction of a signer')
  })

  it('signs calldata of any length a node takes', async () => {
    const key = `0x${'01'.repeat(32)}` as const
    const to = `0x${'bb'.repeat(20)}` as const
    const account = privateKeyToAccount(key)
    const signer = createTransactionSigner(key, 1)
    for (const length of [0, 1, 55, 56, 255, 256, 65_535, 65_536, 110_000]) {
      const data = `0x${'7f'.repeat(length)}` as const
      const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }
      const { raw } = signer.sign({ to, data, evmNonce: 0, gasLimit: 21_000n, ...fees })
      const terms = { to, data, nonce: 0, gas: 21_000n, chainId: 1, ...fees } as const
      expect(raw).to.equal(await account.signTransaction({ ...terms, type: 'eip1559' }))
    }
  })
})
