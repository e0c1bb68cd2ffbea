import { expect } from 'chai'
import { recoverAddress, recoverTypedDataAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { bytesToHex } from '../../chain/signing/keys.js'
import { createActionHasher } from '../../chain/signing/verify-signature.js'
import {
  BadOrderTerms,
  signDeposit,
  signPermit,
  signWithdrawal,
  transferHash,
} from '../../client/index.js'
import type { Hex } from '../../core/action.js'
import {
  readTransferBody,
  validateDeposit,
  validateWithdrawal,
} from '../../core/entry/validate-transfer.js'
import type { TransferKind } from '../../core/transfer.js'
import { testDomain, testPrivateKey } from '../support/builders.js'
import { NOW_MS, places } from '../support/transfer-bodies.js'

const domain = { chainId: testDomain.chainId, matching: testDomain.verifyingContract }
const owner = privateKeyToAccount(testPrivateKey)
const expirySec = Math.floor(NOW_MS / 1_000) + 600
const deposit = { ...places, amount: '25.5', nonce: 7n, expirySec }
const withdrawal = { ...deposit, asset: places.wrappedCngn, subaccountId: '9', amount: '0.000001' }

/** The body as the venue reads it. */
function read(kind: TransferKind, body: unknown) {
  const taken = readTransferBody(kind, JSON.parse(JSON.stringify(body)))
  if ('refusal' in taken) throw new Error(taken.refusal.message)
  return taken
}

describe('signed transfers', () => {
  it('are deposits that the venue takes, known by the digest that was signed (TRA-006)', async () => {
    const body = await signDeposit(owner, domain, deposit)
    const taken = read('deposit', body)
    const valid = validateDeposit(taken, { ...places, nowMs: NOW_MS })
    expect(valid).to.deep.include({ amount: 25_500_000n, asset: places.cashAsset })
    expect(taken.action).to.include({ subaccountId: 0n, nonce: 7n })
    const hash = bytesToHex(createActionHasher(testDomain).digest(taken.action))
    expect(transferHash(domain, body)).to.equal(hash)
    const signer = await recoverAddress({ hash, signature: body.signature as Hex })
    expect(signer).to.equal(owner.address)
  })

  it('are withdrawals that the venue takes', async () => {
    const body = await signWithdrawal(owner, domain, withdrawal)
    const withdrawable = [places.wrappedCngn]
    const taken = read('withdrawal', body)
    const valid = validateWithdrawal(taken, { ...places, withdrawable, nowMs: NOW_MS })
    expect(valid).to.deep.include({ amount: 1n, asset: places.wrappedCngn })
    const hash = transferHash(domain, body)
    const signer = await recoverAddress({ hash, signature: body.signature as Hex })
    expect(signer).to.equal(owner.address)
  })

  it('carry a permit on the token’s own domain for the deposit module', async () => {
    const permit = await signPermit(owner, {
      chainId: domain.chainId,
      usdc: places.unrelated,
      depositModule: places.depositModule,
      amount: '25.5',
      tokenNonce: 3n,
      deadlineSec: expirySec,
    })
    expect(permit).to.include({ value: '25500000', deadline: `${expirySec}` })
    const signer = await recoverTypedDataAddress({
      domain: {
        name: 'USD Coin',
        version: '2',
        chainId: domain.chainId,
        verifyingContract: places.unrelated,
      },
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'Permit',
      message: {
        owner: owner.address,
        spender: places.depositModule,
        value: 25_500_000n,
        nonce: 3n,
        deadline: BigInt(expirySec),
      },
      signature: permit.signature as Hex,
    })
    expect(signer).to.equal(owner.address)
    const body = await signDeposit(owner, domain, { ...deposit, subaccountId: '4', permit })
    const valid = validateDeposit(read('deposit', body), { ...places, nowMs: NOW_MS })
    expect(valid).to.have.nested.property('permit.value', 25_500_000n)
  })

  // The last one is a unit more than a word holds.
  const wide = '115792089237316195423570985008687907853269984665640564039457584007913129.639936'
  for (const amount of ['0', '1.0000001', '1e3', '-1', '', wide]) {
    it(`are not made of ${JSON.stringify(amount)}`, async () => {
      const signing = signDeposit(owner, domain, { ...deposit, amount })
      expect(await signing.catch((error: unknown) => error)).to.be.instanceOf(BadOrderTerms)
    })
  }
})
