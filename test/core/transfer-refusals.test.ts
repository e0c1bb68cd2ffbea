import { expect } from 'chai'
import { tokenUnits6 } from '../../core/money.js'
import * as all from '../../core/transfer-refusals.js'
import { type TransferRefusal, transferRefusals } from '../../core/transfer-refusals.js'

const manager = `0x${'3a'.repeat(20)}` as const
const units = (value: bigint) => tokenUnits6(value)

/** Refusals that the shape of a body does not bring, each text once. */
const texts: readonly (readonly [TransferRefusal, status: number, code: string, text: string])[] = [
  [
    transferRefusals.actionHashForm,
    400,
    'invalid_action_hash',
    'action_hash must be 0x followed by 64 hex digits',
  ],
  [
    transferRefusals.signature,
    401,
    'invalid_signature',
    'signature does not authorize this action',
  ],
  [
    all.transferInProgress('deposit'),
    429,
    'deposit_in_progress',
    'another deposit of action.owner is in progress: wait until it is settled',
  ],
  [
    all.tooManyAMinute('withdrawal', 5, 12),
    429,
    'too_many_withdrawal_requests',
    'at most 5 withdrawal requests a minute',
  ],
  [
    all.tooManyDepositsAnHour(6, 900),
    429,
    'too_many_deposits',
    'at most 6 submitted deposits an hour',
  ],
  [
    all.nonceSpent('deposit'),
    400,
    'nonce_spent',
    'action.nonce is already used with the deposit module; sign a new action with a fresh nonce',
  ],
  [
    all.notTransferOwner('deposit', 4n),
    400,
    'subaccount_not_owned',
    'subaccount_id 4 is not owned by action.owner',
  ],
  [
    all.notTransferOwner('withdrawal', 4n),
    403,
    'subaccount_not_owned',
    'subaccount_id 4 is not owned by action.owner',
  ],
  [
    all.notPerpAccount(4n, manager),
    400,
    'not_a_perp_account',
    `subaccount_id 4 is not a perp account; top up one under the perp risk manager ${manager}, ` +
      'or send subaccount_id 0 to open one',
  ],
  [
    all.balanceTooLow(units(1_500_000n), units(25_000_000n)),
    400,
    'insufficient_balance',
    'action.owner holds 1.5 USDC, less than the deposit of 25 USDC; fund the wallet first',
  ],
  [
    all.allowanceTooLow(units(0n), units(25_000_000n)),
    400,
    'insufficient_allowance',
    'the deposit module may take 0 USDC of action.owner, less than the deposit of 25 USDC; ' +
      'approve it first or send a permit',
  ],
  [
    all.permitRefused('ERC2612ExpiredSignature'),
    400,
    'permit_refused',
    'USDC refuses the permit (ERC2612ExpiredSignature); sign a fresh one',
  ],
  [
    all.wouldRevert('withdrawal', 'WERC_CannotBeNegative'),
    422,
    'withdrawal_would_revert',
    'the withdrawal would revert on chain: WERC_CannotBeNegative',
  ],
  [
    all.transferRejected('deposit', 'why', undefined),
    503,
    'deposit_rejected',
    'the deposit was rejected before anything was sent: why',
  ],
  [
    all.transferRejected('deposit', 'why', 'BM_AdjustmentsPaused'),
    422,
    'deposit_rejected',
    'the deposit was rejected before anything was sent: why',
  ],
  [
    all.chainUnreadable('deposit'),
    503,
    'chain_unreadable',
    'the chain cannot be asked about this deposit now: nothing was submitted, retry shortly',
  ],
  [
    all.transfersPaused('deposit', 'gas_reserve'),
    503,
    'deposits_paused_gas_reserve',
    "deposits are paused: the venue's gas wallet is below its reserve",
  ],
  [
    all.transfersPaused('deposit', 'gas_budget'),
    503,
    'deposits_paused_gas_budget',
    "deposits are paused: this hour's sponsored gas budget is spent",
  ],
  [
    all.transfersUnavailable('withdrawal'),
    503,
    'withdrawals_unavailable',
    'withdrawals are not available now: nothing was submitted, retry shortly',
  ],
  [
    all.transferUnknown('deposit'),
    502,
    'deposit_unknown',
    'could not confirm whether the deposit was submitted: look it up by action_hash or resend ' +
      'the same request before signing a new one',
  ],
  [
    all.transferUnknown('withdrawal'),
    502,
    'withdrawal_unknown',
    'could not confirm whether the withdrawal was submitted: resend the same request or check ' +
      'the balance before signing a new one',
  ],
  [
    all.transferRecordUnreadable('deposit'),
    503,
    'deposit_record_unreadable',
    'the record of this deposit cannot be read now: retry shortly',
  ],
  [
    all.transferNotFound('withdrawal'),
    404,
    'withdrawal_not_found',
    'no withdrawal with this action_hash',
  ],
]

describe('refusals of deposits and withdrawals', () => {
  for (const [refusal, status, code, message] of texts) {
    it(`${code} is ${status}: ${message.slice(0, 50)}`, () => {
      expect(refusal).to.include({ status, code, message })
    })
  }

  it('name the revert and the time to wait where there is one', () => {
    expect(all.wouldRevert('deposit', 'BM_AdjustmentsPaused').revert).to.equal(
      'BM_AdjustmentsPaused',
    )
    expect(all.permitRefused('used')).to.include({ revert: 'used' })
    expect(all.tooManyDepositsAnHour(6, 900).retryAfterSec).to.equal(900)
    expect(all.tooManyAMinute('deposit', 3, 12).retryAfterSec).to.equal(12)
  })
})
