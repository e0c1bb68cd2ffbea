import { expect } from 'chai'
import {
  readTransferBody,
  refusePermit,
  validateDeposit,
  validateWithdrawal,
} from '../../../core/entry/validate-transfer.js'
import { tokenUnits6 } from '../../../core/money.js'
import {
  aDepositBody,
  aWithdrawalBody,
  expiryIn,
  NOW_MS,
  places,
} from '../../support/transfer-bodies.js'

const { depositModule, withdrawalModule, cashAsset, perpManager, wrappedUsdc, wrappedCngn } = places

function deposit(sent: unknown) {
  const body = readTransferBody('deposit', sent)
  if ('refusal' in body) return body
  return validateDeposit(body, { depositModule, cashAsset, perpManager, nowMs: NOW_MS })
}

function withdrawal(sent: unknown) {
  const body = readTransferBody('withdrawal', sent)
  if ('refusal' in body) return body
  const withdrawable = [wrappedUsdc, wrappedCngn]
  return validateWithdrawal(body, { withdrawalModule, withdrawable, nowMs: NOW_MS })
}

const permit = { value: '25000000', deadline: expiryIn(60), signature: `0x${'11'.repeat(65)}` }

describe('the shape of a deposit', () => {
  it('is taken when everything is right, hex in any case', () => {
    const { action, signature } = aDepositBody()
    const sent = {
      action: { ...action, module: action.module.toUpperCase().replace('X', 'x') },
      signature,
    }
    expect(deposit(sent)).to.deep.include({
      amount: 25_000_000n,
      asset: cashAsset,
      managerForNewAccount: perpManager,
      signature,
    })
  })

  it('carries a permit that is well-formed, whatever it says', () => {
    const taken = deposit({ ...aDepositBody(), permit: { ...permit, value: '0', deadline: '0' } })
    expect(taken).to.deep.include({ permit: { ...permit, value: 0n, deadline: 0n } })
    expect(deposit({ ...aDepositBody(), permit: null })).not.to.have.property('permit')
  })

  it('allows exactly the minimum, exactly an hour, and any manager on a top-up (TRA-005, TRA-025, TRA-027)', () => {
    const words = { amount: 10_000_000n, managerForNewAccount: places.unrelated }
    const topUp = aDepositBody(words, { subaccount_id: '4', expiry: expiryIn(3_600) })
    expect(deposit(topUp)).to.deep.include({ amount: 10_000_000n })
  })
})

describe('the body of a transfer', () => {
  it('has data of whole bytes in hex, of any number of words, so that it can be hashed', () => {
    for (const data of ['0x', '0x00', `0x${'aB'.repeat(33)}`]) {
      expect(readTransferBody('deposit', aDepositBody({}, { data }))).to.have.property('signature')
    }
    for (const data of ['0xabc', '0xzz', 'abcd']) {
      const read = readTransferBody('withdrawal', aWithdrawalBody({}, { data }))
      expect(read, data).to.have.nested.property('refusal.code', 'invalid_action_data')
    }
  })
})

describe('the shape of a withdrawal', () => {
  it('is taken when everything is right', () => {
    expect(withdrawal(aWithdrawalBody({ asset: wrappedCngn, amount: 1n }))).to.deep.include({
      asset: wrappedCngn,
      amount: 1n,
    })
  })
})

describe('a permit', () => {
  const amount = tokenUnits6(25_000_000n)
  const given = { value: 25_000_000n, deadline: BigInt(expiryIn(1)), signature: '0x11' } as const

  it('covers the deposit when it is as large and lasts', () => {
    expect(refusePermit(given, amount, NOW_MS)).to.equal(undefined)
  })

  it('is refused when it is too small or over', () => {
    expect(refusePermit({ ...given, value: 24_999_999n }, amount, NOW_MS)).to.include({
      status: 400,
      code: 'permit_too_small',
      field: 'permit.value',
      message: 'permit.value 24999999 is below the deposit amount 25000000',
    })
    expect(refusePermit({ ...given, deadline: BigInt(expiryIn(0)) }, amount, NOW_MS)).to.include({
      status: 400,
      message: 'permit has expired',
    })
  })
})
