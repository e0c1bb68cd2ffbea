import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { amountE18, tokenUnits6 } from '../../../core/money.js'
import {
  hasReceipt,
  transferReceipt,
  transferRecord,
} from '../../../core/records/transfer-record.js'
import { aTransfer, anUnsentTransfer, places } from '../../support/transfer-bodies.js'

const ACTION_HASH = `0x${'ac'.repeat(32)}`
const TX_HASH = `0x${'77'.repeat(32)}`
const PERMIT_TX_HASH = `0x${'78'.repeat(32)}` as const
const aWithdrawal = {
  kind: 'withdrawal',
  asset: places.wrappedCngn,
  amount: tokenUnits6(1n),
  subaccountIdRequested: 9n,
  subaccountId: 9n,
} as const

describe('records of deposits and withdrawals', () => {
  it('show every field of a confirmed deposit', () => {
    expect(transferRecord(aTransfer({ permitTxHash: PERMIT_TX_HASH }))).to.deep.equal({
      action_hash: ACTION_HASH,
      status: 'confirmed',
      owner: places.owner,
      amount_usdc: '25.000000',
      amount_units: '25000000',
      credited_cash_e18: '25000000000000000000',
      nonce: '77',
      subaccount_id_requested: '0',
      subaccount_id: '12',
      tx_hash: TX_HASH,
      permit_tx_hash: PERMIT_TX_HASH,
      block_number: '31',
      created_at: '2026-11-21T10:00:00.500Z',
      updated_at: '2026-11-21T10:00:02.500Z',
    })
  })

  it('show what the chain credited, once it has', () => {
    const credited = amountE18(24_999_999n * 10n ** 12n)
    expect(transferRecord(aTransfer({ credited }))).to.include({
      amount_units: '25000000',
      credited_cash_e18: '24999999000000000000',
    })
  })

  it('leave out what a rejected deposit does not have, and say why it was rejected', () => {
    const rejected = anUnsentTransfer({ status: 'rejected', error: 'no', revert: 'BM_Paused' })
    const record = transferRecord(rejected)
    expect(record).to.include({ status: 'rejected', error: 'no', revert: 'BM_Paused' })
    expect(record).to.not.have.any.keys('subaccount_id', 'tx_hash', 'block_number')
  })

  it('show a withdrawal in the units of its token', () => {
    expect(transferRecord(aTransfer(aWithdrawal))).to.deep.equal({
      action_hash: ACTION_HASH,
      status: 'confirmed',
      owner: places.owner,
      asset_address: places.wrappedCngn,
      amount: '0.000001',
      amount_units: '1',
      nonce: '77',
      subaccount_id: '9',
      tx_hash: TX_HASH,
      block_number: '31',
      created_at: '2026-11-21T10:00:00.500Z',
      updated_at: '2026-11-21T10:00:02.500Z',
    })
  })
})

describe('receipts of deposits and withdrawals', () => {
  it('show what a confirmed deposit did (TRA-035)', () => {
    expect(transferReceipt(aTransfer({ permitTxHash: PERMIT_TX_HASH }))).to.deep.equal({
      action_hash: ACTION_HASH,
      status: 'confirmed',
      accepted: true,
      receipt_status: 'success',
      tx_hash: TX_HASH,
      permit_tx_hash: PERMIT_TX_HASH,
      block_number: '31',
      subaccount_id: '12',
      amount_usdc: '25.000000',
      amount_units: '25000000',
      credited_cash_e18: '25000000000000000000',
    })
  })

  it('call a broadcast without a receipt a time-out, and a revert not accepted', () => {
    const submitted = anUnsentTransfer({ status: 'submitted', txHash: aTransfer().txHash! })
    expect(transferReceipt(submitted)).to.include({ accepted: true, receipt_status: 'timeout' })
    expect(transferReceipt(submitted)).to.not.have.any.keys('block_number', 'subaccount_id')
    const reverted = aTransfer({ ...aWithdrawal, status: 'reverted', revert: 'SRM_NoNegativeCash' })
    expect(transferReceipt(reverted)).to.include({
      accepted: false,
      receipt_status: 'reverted',
      revert: 'SRM_NoNegativeCash',
    })
  })

  it('show a withdrawal in the units of its token', () => {
    expect(transferReceipt(aTransfer(aWithdrawal))).to.deep.equal({
      action_hash: ACTION_HASH,
      status: 'confirmed',
      accepted: true,
      receipt_status: 'success',
      tx_hash: TX_HASH,
      block_number: '31',
      subaccount_id: '9',
      asset_address: places.wrappedCngn,
      amount: '0.000001',
      amount_units: '1',
    })
  })

  it('name the permit’s transaction only where there was one', () => {
    expect(transferReceipt(aTransfer())).not.to.have.property('permit_tx_hash')
  })

  it('are refused of a transfer that says it was sent and names no transaction', () => {
    const nameless = anUnsentTransfer({ status: 'submitted' })
    expect(() => transferReceipt(nameless)).to.throw(InvariantBroken, /that is submitted/)
  })

  it('exist of what was sent alone', () => {
    for (const status of ['pending', 'rejected', 'unknown'] as const) {
      const record = anUnsentTransfer({ status })
      expect(hasReceipt(record)).to.equal(false)
      expect(() => transferReceipt(record)).to.throw(InvariantBroken)
    }
  })
})
