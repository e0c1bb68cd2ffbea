import { belowMinNotional, controlRefusals } from '../../core/entry/order-refusals.js'
import {
  authFailed,
  authKeyEnded,
  authKeyUnreadable,
  authMalformed,
  authRequired,
  readRefusals,
} from '../../core/entry/read-refusals.js'
import { indexLagRefusal } from '../../core/contracts/index-lag.js'
import { demoRefusals } from '../../core/entry/demo-refusals.js'
import { indexRefusals } from '../../core/entry/read-index-status.js'
import { marketRefusals, notUnderManager } from '../../core/entry/market-refusals.js'
import * as orders from '../../core/entry/refusals.js'
import type { TransferRefusal } from '../../core/entry/transfer-refusals.js'

const { refusals } = orders
const manager = `0x${'3a'.repeat(20)}` as const

/** A refusal that the venue's state decides, not the request's form: the value, and what is answered. */
export type Stated = readonly [
  refusal: TransferRefusal,
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
    controlRefusals.openOrderLimit,
    400,
    'open_order_limit',
    "the account has as many live orders as the market's open_order_limit allows: order_id and nonce of this one are used",
  ],
  [
    controlRefusals.signerOrderLimit,
    400,
    'signer_order_limit',
    'the signer is a contract or a delegated key that has yet to pay for its gas here, and its owner may have 20 live orders in the market until then: order_id and nonce of this one are used',
  ],
  [
    belowMinNotional('0.000001', '2', 'USDC'),
    400,
    'notional_below_minimum',
    'order notional 0.000001 USDC is below the minimum 2 USDC',
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
  [
    refusals.tooManyOrders,
    500,
    'too_many_orders',
    'owner_address sends too many orders: nothing was placed, safe to retry after Retry-After',
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
    refusals.ownerUnchecked,
    500,
    'too_many_unchecked_orders',
    'the chain cannot be asked about the signature, and too many orders of owner_address wait for that already: nothing was placed, safe to retry',
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
  [indexLagRefusal('why', { max_bps: 100 }), 400, 'index_lag', 'index_lag'],
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
    readRefusals.tooManyWaits,
    503,
    'too_many_waiting_reads',
    'too many reads of this address wait for min_seq: retry after one second, one at a time is always admitted',
  ],
  [
    readRefusals.minSeqAhead,
    503,
    'min_seq_ahead',
    'min_seq is ahead of the newest change that is known here: retry shortly',
  ],
  [
    readRefusals.historyBefore,
    400,
    'invalid_before',
    'before must be a next_before value returned by this endpoint',
  ],
  [readRefusals.ordersStatus, 400, 'invalid_status', 'status must be open'],
  [
    readRefusals.openOnly,
    400,
    'filter_needs_status_open',
    'market and subaccount_id are filters of open orders: send status=open too',
  ],
  [readRefusals.subaccountRequired, 400, 'subaccount_id_required', 'subaccount_id is required'],
  [
    readRefusals.subaccountForm,
    400,
    'invalid_subaccount_id',
    'subaccount_id must be a non-negative integer',
  ],
  [
    readRefusals.balancesAccounts,
    400,
    'invalid_subaccount_ids',
    'subaccount_id must be 1 to 20 non-negative integers, separated by commas',
  ],
  [
    readRefusals.balancesNotOwned,
    403,
    'subaccount_not_owned',
    'subaccount_id names an account that is not in custody for this address',
  ],
  [
    readRefusals.balancesUnreadable,
    502,
    'balances_unreadable',
    'could not read balances from chain',
  ],
  [
    readRefusals.balancesUnserved,
    503,
    'balances_unavailable',
    'balances are not served at this moment: retry shortly',
  ],
  [
    readRefusals.accountsBehind,
    503,
    'accounts_behind',
    'the index of accounts has not reached the newest block yet: retry shortly',
  ],
  [
    readRefusals.accountsUnserved,
    503,
    'accounts_unavailable',
    'accounts are not served at this moment: retry shortly',
  ],
  [
    readRefusals.permitNonceUnreadable,
    502,
    'permit_nonce_unreadable',
    'could not read the nonce of permits from chain',
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
  [
    authKeyEnded,
    401,
    'session_key_ended',
    'auth failed: signer_address is no session key of address, or its registration has ended',
  ],
  [
    authKeyUnreadable,
    503,
    'session_key_unreadable',
    'the session key could not be checked: retry shortly',
  ],
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
  [demoRefusals.off, 404, 'demo_accounts_off', 'this venue gives no demo accounts'],
  [
    demoRefusals.exhausted,
    409,
    'demo_accounts_exhausted',
    'this devnet has given all of its demo accounts: begin a new one with ./venue reset',
  ],
  [
    demoRefusals.busy,
    429,
    'demo_accounts_busy',
    'as many demo accounts were given within the last minute as may be: ask again in a minute',
  ],
  [
    demoRefusals.unavailable,
    503,
    'demo_accounts_unavailable',
    'the accounts were not opened: ask again shortly',
  ],
]
