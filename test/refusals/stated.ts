import {
  authFailed,
  authMalformed,
  authRequired,
  readRefusals,
} from '../../core/entry/read-refusals.js'
import { controlRefusals } from '../../core/entry/control-refusals.js'
import { indexLagRefusal } from '../../core/contracts/index-lag.js'
import { indexRefusals } from '../../core/entry/read-index-status.js'
import { marketRefusals, notUnderManager } from '../../core/entry/market-refusals.js'
import * as orders from '../../core/entry/refusals.js'
import * as transfers from '../../core/entry/transfer-refusals.js'
import { tokenUnits6 } from '../../core/money.js'

const { refusals } = orders
const { transferRefusals } = transfers
const manager = `0x${'3a'.repeat(20)}` as const
const units = (value: bigint) => tokenUnits6(value)

/** A refusal that the venue's state decides, not the request's form: the value, and what is answered. */
export type Stated = readonly [
  refusal: transfers.TransferRefusal,
  status: number,
  code: string,
  error: string,
]

export const statedOfOrders: readonly Stated[] = [
  [refusals.upgradeRequired, 426, 'upgrade_required', 'this endpoint speaks WebSocket'],
  [refusals.internal, 500, 'internal', 'internal error'],
  [
    controlRefusals.postOnlyWouldCross,
    422,
    'post_only_would_cross',
    'post_only order would take liquidity: its order_id and nonce are used',
  ],
  [
    refusals.outcomeUnknown,
    500,
    'outcome_unknown',
    'outcome not known: safe to retry with the same order_id',
  ],
  [
    refusals.overloaded,
    500,
    'overloaded',
    'too many requests are waiting: nothing was placed, safe to retry',
  ],
  [refusals.readBehind, 503, 'read_behind', 'reads are catching up: retry shortly'],
  [
    refusals.sessionKey,
    400,
    'signer_not_authorized',
    'signer_address is not a registered session key of owner_address',
  ],
  [refusals.signature, 400, 'invalid_signature', 'signature does not authorize this action'],
  [
    refusals.tooManyUnchecked,
    500,
    'signature_unverifiable',
    'the chain cannot be asked about the signature, and too many orders of the market wait for that already: nothing was placed, safe to retry',
  ],
  [
    orders.notInCustody(7n),
    400,
    'subaccount_not_in_custody',
    'subaccount_id 7 is not deposited in matching custody',
  ],
  [
    orders.notSubaccountOwner(7n),
    400,
    'subaccount_not_owned',
    'subaccount_id 7 is not owned by owner_address',
  ],
  [marketRefusals.tradingPaused, 400, 'trading_paused', 'trading_paused'],
  [indexLagRefusal('why'), 400, 'index_lag', 'index_lag'],
  [
    marketRefusals.accountUnreadable,
    500,
    'account_unreadable',
    'the chain could not be asked about the subaccount: nothing was placed, safe to retry',
  ],
  [
    notUnderManager(7n, manager),
    400,
    'subaccount_not_under_manager',
    `subaccount_id 7 is not under margin_manager_address ${manager}`,
  ],
  [
    marketRefusals.marketUnreadable,
    500,
    'market_unreadable',
    'the chain could not be asked whether the market is paused: nothing was placed, safe to retry',
  ],
  [
    marketRefusals.reduceOnlyFlat,
    400,
    'reduce_only_no_position',
    'reduce_only: no position to reduce',
  ],
  [
    marketRefusals.reduceOnlySameSide,
    400,
    'reduce_only_same_side',
    'reduce_only: order is on the same side as the position',
  ],
  [
    marketRefusals.positionUnreadable,
    500,
    'position_unreadable',
    'the chain could not be asked about the position: nothing was placed, safe to retry',
  ],
  [marketRefusals.insufficientMargin, 400, 'insufficient_margin', 'insufficient_margin'],
  [
    marketRefusals.marginUnreadable,
    500,
    'margin_unreadable',
    "the account's margin cannot be read or its prices are stale: nothing was placed, safe to retry",
  ],
  [refusals.duplicateOrderId, 409, 'duplicate_order_id', 'duplicate order: order_id already used'],
  [refusals.duplicateNonce, 409, 'duplicate_nonce', 'duplicate order: nonce already used'],
]

export const statedOfCancels: readonly Stated[] = [
  [refusals.activeOrderNotFound, 404, 'active_order_not_found', 'active order not found'],
  [refusals.cancelTarget, 500, 'cancel_target_unresolved', 'failed to resolve cancel target'],
  [
    refusals.cancelProofRequired,
    403,
    'cancel_proof_required',
    'cancelling needs proof of ownership: a signed cancel or X-Service-Auth',
  ],
  [
    refusals.cancelProofOwner,
    403,
    'cancel_not_owner',
    'the proof does not authorize owner_address',
  ],
  [refusals.cancelProofExpired, 403, 'cancel_proof_expired', 'the signed cancel has expired'],
  [
    refusals.cancelProofSignature,
    403,
    'cancel_proof_invalid',
    'signature does not authorize this cancel',
  ],
  [
    refusals.cancelProofUnreadable,
    500,
    'cancel_proof_unreadable',
    'the chain could not be asked about the proof: nothing was cancelled, safe to retry',
  ],
  [
    orders.protectedNamespace('smoke:'),
    403,
    'protected_namespace',
    'service-tagged cancels are not allowed for protected namespace "smoke:"',
  ],
  [orders.wrongFrame('no JSON'), 403, 'cancel_frame_invalid', 'X-Service-Auth: no JSON'],
]

export const statedOfReads: readonly Stated[] = [
  [
    readRefusals.tooManyReads,
    503,
    'too_many_reads',
    'too many large reads of this address are in flight: retry after one second, one at a time is always admitted',
  ],
  [
    readRefusals.historyBefore,
    400,
    'invalid_before',
    'before must be a next_before value returned by this endpoint',
  ],
  [readRefusals.subaccountRequired, 400, 'subaccount_id_required', 'subaccount_id is required'],
  [
    readRefusals.subaccountForm,
    400,
    'invalid_subaccount_id',
    'subaccount_id must be a non-negative integer',
  ],
  [
    readRefusals.positionsUnreadable,
    502,
    'positions_unreadable',
    'could not read positions from chain',
  ],
  [authRequired('X-Service-Auth'), 401, 'auth_required', 'X-Service-Auth header is required'],
  [
    authMalformed('X-Service-Auth'),
    401,
    'auth_malformed',
    'X-Service-Auth must be base64url-encoded JSON',
  ],
  [authFailed('so'), 401, 'auth_failed', 'auth failed: so'],
  [indexRefusals.off, 404, 'index_status_off', 'this venue takes no samples of the index'],
  [indexRefusals.token, 401, 'index_token', 'the token is missing or wrong'],
  [
    indexRefusals.form,
    400,
    'invalid_index_status',
    'expected {at_ms, usdc_per_cngn, sample_ok}: unix milliseconds, a positive decimal as text, true or false',
  ],
  [indexRefusals.ahead, 400, 'index_status_ahead', 'at_ms is in the future'],
  [
    indexRefusals.unavailable,
    503,
    'index_status_unavailable',
    'the sample was not recorded: retry shortly',
  ],
]

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
