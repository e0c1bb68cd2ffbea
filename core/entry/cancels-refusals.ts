import { LEASE_MAX_SEC, LEASE_MIN_SEC, MAX_CANCEL_PROOF_SEC, MAX_CANCELLED_IDS } from '../limits.js'
import { badRequest, refuse, type Refusal } from './refusals.js'

/** Refusals of cancels of many orders and of leases; their texts are fixed. None of them has cancelled anything. */
export const cancelsRefusals = {
  orderIds: badRequest(
    'invalid_order_ids',
    `order_ids must be a list of 1 to ${MAX_CANCELLED_IDS} order ids`,
    { field: 'order_ids' },
  ),
  seconds: badRequest(
    'invalid_seconds',
    `seconds must be 0 or an integer from ${LEASE_MIN_SEC} to ${LEASE_MAX_SEC}`,
    { field: 'seconds' },
  ),
  leaseIdForm: badRequest(
    'invalid_lease_id',
    'lease_id must be the lease_id that the answer to cancel_on_disconnect names',
    { field: 'lease_id' },
  ),
  issuedAtInteger: badRequest('invalid_issued_at', 'issued_at must be an integer', {
    field: 'issued_at',
  }),
  issuedAtFuture: refuse(403)('cancel_proof_early', 'issued_at is in the future', {
    field: 'issued_at',
  }),
  proofOrder: badRequest('invalid_expiry', 'expiry must be after issued_at', { field: 'expiry' }),
  proofTooLong: badRequest(
    'cancel_proof_too_long',
    `the signed cancel may be valid for at most ${MAX_CANCEL_PROOF_SEC} seconds`,
    { field: 'expiry' },
  ),
  proofUsed: refuse(403)('cancel_proof_used', 'the signed cancel was used before: sign a new one'),
  proofUseUnknown: refuse(500)(
    'cancel_proof_use_unknown',
    'the use of the signed cancel could not be noted: nothing was cancelled, safe to retry with a new one',
  ),
  /** Decided by the market. */
  leaseEnded: refuse(409)('lease_ended', 'the lease has ended: the orders under it are cancelled'),
  tooManyLeases: refuse(500)(
    'too_many_leases',
    'the market has too many leases: nothing was set, safe to retry',
  ),
  /** Of one order in the answer to a cancel of many. */
  otherOwner: refuse(403)('order_of_another_owner', 'the order belongs to another owner'),
} as const satisfies Record<string, Refusal>
