import * as transfers from '../../core/entry/transfer-refusals.js'
import { tokenUnits6 } from '../../core/money.js'
import type { Stated } from './stated.js'

const { transferRefusals } = transfers
const manager = `0x${'3a'.repeat(20)}` as const
const units = (value: bigint) => tokenUnits6(value)

/** Refusals of deposits and withdrawals that the venue's state decides. */
export const statedOfTransfers: readonly Stated[] = [
  [
    transferRefusals.signature,
    401,
    'invalid_signature',
    'signature does not authorize this action',
  ],
  [
    transfers.transferInProgress('deposit'),
    429,
    'deposit_in_progress',
    'another deposit of action.owner is in progress: wait until it is settled',
  ],
  [
    transfers.tooManyAMinute('withdrawal', 5, 12),
    429,
    'too_many_withdrawal_requests',
    'at most 5 withdrawal requests a minute',
  ],
  [
    transfers.tooManyDepositsAnHour(6, 900),
    429,
    'too_many_deposits',
    'at most 6 submitted deposits an hour',
  ],
  [
    transfers.nonceSpent('deposit'),
    400,
    'nonce_spent',
    'action.nonce is already used with the deposit module; sign a new action with a fresh nonce',
  ],
  [
    transfers.notTransferOwner('deposit', 4n),
    400,
    'subaccount_not_owned',
    'subaccount_id 4 is not owned by action.owner',
  ],
  [
    transfers.notTransferOwner('withdrawal', 4n),
    403,
    'subaccount_not_owned',
    'subaccount_id 4 is not owned by action.owner',
  ],
  [
    transfers.notPerpAccount(4n, manager),
    400,
    'not_a_perp_account',
    `subaccount_id 4 is not a perp account; top up one under the perp risk manager ${manager}, ` +
      'or send subaccount_id 0 to open one',
  ],
  [
    transfers.balanceTooLow(units(1_500_000n), units(25_000_000n)),
    400,
    'insufficient_balance',
    'action.owner holds 1.5 USDC, less than the deposit of 25 USDC; fund the wallet first',
  ],
  [
    transfers.allowanceTooLow(units(0n), units(25_000_000n)),
    400,
    'insufficient_allowance',
    'the deposit module may take 0 USDC of action.owner, less than the deposit of 25 USDC; ' +
      'approve it first or send a permit',
  ],
  [
    transfers.permitRefused('ERC2612ExpiredSignature'),
    400,
    'permit_refused',
    'USDC refuses the permit (ERC2612ExpiredSignature); sign a fresh one',
  ],
  [
    transfers.permitRefused(),
    400,
    'permit_refused',
    'USDC refuses the permit (already used); sign a fresh one',
  ],
  [
    transfers.wouldRevert('withdrawal', 'WERC_CannotBeNegative'),
    422,
    'withdrawal_would_revert',
    'the withdrawal would revert on chain: WERC_CannotBeNegative',
  ],
  [
    transfers.transferRejected('deposit', 'why', undefined),
    503,
    'deposit_rejected',
    'the deposit was rejected before anything was sent: why',
  ],
  [
    transfers.transferRejected('deposit', 'why', 'BM_AdjustmentsPaused'),
    422,
    'deposit_rejected',
    'the deposit was rejected before anything was sent: why',
  ],
  [
    transfers.chainUnreadable('deposit'),
    503,
    'chain_unreadable',
    'the chain cannot be asked about this deposit now: nothing was submitted, retry shortly',
  ],
  [
    transfers.transfersPaused('deposit', 'gas_reserve'),
    503,
    'deposits_paused_gas_reserve',
    "deposits are paused: the venue's gas wallet is below its reserve",
  ],
  [
    transfers.transfersPaused('deposit', 'gas_budget'),
    503,
    'deposits_paused_gas_budget',
    "deposits are paused: this hour's sponsored gas budget is spent",
  ],
  [
    transfers.transfersUnavailable('withdrawal'),
    503,
    'withdrawals_unavailable',
    'withdrawals are not available now: nothing was submitted, retry shortly',
  ],
  [
    transfers.transferUnknown('deposit'),
    502,
    'deposit_unknown',
    'could not confirm whether the deposit was submitted: look it up by action_hash or resend ' +
      'the same request before signing a new one',
  ],
  [
    transfers.transferUnknown('withdrawal'),
    502,
    'withdrawal_unknown',
    'could not confirm whether the withdrawal was submitted: resend the same request or check ' +
      'the balance before signing a new one',
  ],
  [
    transfers.transferRecordUnreadable('deposit'),
    503,
    'deposit_record_unreadable',
    'the record of this deposit cannot be read now: retry shortly',
  ],
  [
    transfers.transferNotFound('withdrawal'),
    404,
    'withdrawal_not_found',
    'no withdrawal with this action_hash',
  ],
  [
    transfers.permitTooSmall(24_999_999n, units(25_000_000n)),
    400,
    'permit_too_small',
    'permit.value 24999999 is below the deposit amount 25000000',
  ],
  [transferRefusals.permitExpired, 400, 'permit_expired', 'permit has expired'],
  [transfers.transfersOff('deposit'), 503, 'deposits_off', 'deposits are off on this deployment'],
]
