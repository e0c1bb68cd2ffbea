import { expect } from 'chai'
import type { ActionJson } from '../../core/action.js'
import { validateOrder } from '../../core/entry/validate-order.js'
import {
  readTransferBody,
  validateDeposit,
  validateWithdrawal,
} from '../../core/entry/validate-transfer.js'
import type { TransferKind } from '../../core/transfer.js'
import * as transferBodies from '../support/transfer-bodies.js'
import { engine, NOW_MS, tableMarkets } from './good-orders.js'

const { aDepositBody, aWithdrawalBody, places } = transferBodies

type Fields = Record<string, unknown>

function codeOf(checked: object): string {
  if (!('refusal' in checked)) throw new Error('it is accepted')
  return (checked.refusal as { code: string }).code
}

/** Every pair of faults, and all from each one on, is answered by the first of them. */
function answersTheFirst(
  faults: readonly (readonly [code: string, fault: Fields])[],
  answer: (faults: Fields) => string,
): void {
  for (const [index, [code, fault]] of faults.entries()) {
    it(code, () => {
      const later = faults.slice(index).map(([, each]) => each)
      for (const other of later) expect(answer({ ...other, ...fault })).to.equal(code)
      expect(answer(Object.assign({}, ...later.toReversed()) as Fields)).to.equal(code)
    })
  }
}

describe('of several faults of an order the first check answers (ORD-027)', () => {
  const answer = (faults: Fields): string =>
    codeOf(validateOrder({ ...engine, ...faults }, { markets: tableMarkets, nowMs: NOW_MS }))

  answersTheFirst(
    [
      ['order_id_required', { order_id: undefined }],
      ['asset_address_required', { asset_address: undefined }],
      ['nonce_required', { nonce: undefined }],
      ['limit_price_required', { limit_price: undefined }],
      ['desired_amount_required', { desired_amount: undefined }],
      ['signature_required', { signature: undefined }],
      ['owner_address_required', { owner_address: undefined }],
      ['worst_fee_required', { worst_fee: undefined }],
      ['expiry_past', { expiry: 1 }],
      ['invalid_action_json', { action_json: '{' }],
      ['invalid_side', { side: 'hold' }],
      ['unknown_instrument', { asset_address: '0x00' }],
      ['limit_price_not_positive', { limit_price: '0' }],
      ['desired_amount_not_positive', { desired_amount: '0' }],
      ['filled_amount_negative', { filled_amount: '-1' }],
      ['subaccount_mismatch', { subaccount_id: '8' }],
      ['recipient_not_subaccount', { recipient_id: '8' }],
      ['data_worst_fee_mismatch', { worst_fee: '8' }],
      ['reduce_only_unsupported', { reduce_only: true }],
      ['invalid_time_in_force', { time_in_force: 'GTD' }],
      ['invalid_post_only', { post_only: true }],
      ['invalid_stp', { stp: 'none' }],
      ['invalid_stp_scope', { stp_scope: 'all' }],
      ['invalid_lease_id', { lease_id: 'one' }],
    ],
    answer,
  )

  it('the translation stands between instrument and price', () => {
    const half = { order_entry_spec: 'cngn_usdc_spot_v1' }
    expect(answer({ ...half, asset_address: '0x00' })).to.equal('unknown_instrument')
    expect(answer({ ...half, limit_price: '0' })).to.equal('ui_intent_missing')
    // What a translation could derive is not asked for before the translation was judged.
    expect(answer({ ...half, limit_price: undefined })).to.equal('ui_intent_missing')
  })
})

const rules = {
  ...places,
  withdrawable: [places.wrappedUsdc, places.wrappedCngn],
  nowMs: transferBodies.NOW_MS,
}

function checkTransfer(kind: TransferKind, sent: unknown): object {
  const body = readTransferBody(kind, sent)
  if ('refusal' in body) return body
  return kind === 'deposit' ? validateDeposit(body, rules) : validateWithdrawal(body, rules)
}

/** The answer to a good body with these faults in its action, and a signature that is none. */
const answerTo =
  (kind: TransferKind) =>
  (faults: Partial<ActionJson>): string => {
    const { action } = kind === 'deposit' ? aDepositBody() : aWithdrawalBody()
    return codeOf(checkTransfer(kind, { action: { ...action, ...faults }, signature: 'x' }))
  }

describe('of several faults of a deposit the first rule answers (TRA-002)', () => {
  answersTheFirst(
    [
      ['wrong_module', { module: places.unrelated }],
      ['signer_not_owner', { signer: places.unrelated }],
      ['action_expired', { expiry: '1' }],
      ['invalid_action_data', { data: '0x' }],
    ],
    answerTo('deposit'),
  )

  it('asset_not_depositable, then deposit_below_minimum', () => {
    const words = { asset: places.wrappedUsdc, amount: 1n, managerForNewAccount: places.unrelated }
    const codes = [words, { ...words, asset: places.cashAsset }].map((each) =>
      codeOf(checkTransfer('deposit', { ...aDepositBody(each), signature: 'x' })),
    )
    expect(codes).to.deep.equal(['asset_not_depositable', 'deposit_below_minimum'])
  })
})

describe('of several faults of a withdrawal the first rule answers (TRA-002)', () => {
  answersTheFirst(
    [
      ['wrong_module', { module: places.unrelated }],
      ['subaccount_zero', { subaccount_id: '0' }],
      ['signer_not_owner', { signer: places.unrelated }],
      ['action_expiry_too_far', { expiry: transferBodies.expiryIn(9_999) }],
      ['invalid_action_data', { data: '0x' }],
    ],
    answerTo('withdrawal'),
  )
})
