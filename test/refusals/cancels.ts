import { cancelsRefusals } from '../../core/entry/order-refusals.js'
import {
  each,
  type Answer,
  INVALID_JSON,
  noAddress,
  noInteger,
  noText,
  of,
  required,
  rule,
  set,
  valuesOf,
  type Rule,
} from './rule.js'
import type { Stated } from './stated.js'

const owner = `0x${'ad'.repeat(20)}`

/** A cancel in form, without proof and with one; neither names an order that is there. */
export const goodCancel = { owner_address: owner, nonce: '7' }
const proven = { ...goodCancel, signer_address: owner, expiry: 4_102_444_800, signature: '0x' }

/** Cancels of many orders in form, without proof and with one. */
export const goodCancelAll = { owner_address: owner }
export const goodCancelList = { owner_address: owner, order_ids: ['a'] }
export const goodCancelAllAfter = { owner_address: owner, seconds: 60 }

const times = { issued_at: 4_102_444_800, expiry: '4102444860' }
const provenAll = { ...goodCancelAll, signer_address: owner, ...times, signature: '0x' }

// CAN-006
const REASON: Answer = [
  'invalid_cancel_reason',
  'reason must be at most 128 characters of well-formed text without control characters',
  'reason',
]

/** What the three cancels of many orders share. */
const sharedRules: readonly Rule<object>[] = [
  rule(
    INVALID_JSON,
    each(['{"owner_address":', '', '[]', 'null', '7'], (text) => [`the body ${text}`, () => text]),
  ),
  rule(required('owner_address'), valuesOf('owner_address', [undefined, null, ''])),
  rule(noAddress('owner_address'), valuesOf('owner_address', ['0x12', 7])),
]

// CAN-021
const unknownRule = (name: string) =>
  rule(['unknown_field', `unknown field ${name}: nothing was done`, name], {
    [`the field ${name}`]: set({ [name]: 'x' }),
  })

export const cancelAllRules: readonly Rule<object>[] = [
  ...sharedRules,
  ...['markets', 'Side', 'subaccountId'].map(unknownRule),
  rule(
    ['invalid_side', 'side must be buy or sell', 'side'],
    // CAN-022
    valuesOf('side', ['BUY', 1, null, '']),
  ),
  ...['0x7', 1, null, ''].map((id) =>
    rule(noInteger('subaccount_id', id), valuesOf('subaccount_id', [id])),
  ),
  rule(REASON, valuesOf('reason', ['x'.repeat(129), 'a\nb', 5, ['a']])),
  ...['signer_address', 'issued_at', 'expiry'].map((field) =>
    rule(required(field), { 'beside a signature': of(provenAll, set({ [field]: undefined })) }),
  ),
  rule(noText('signature'), { 'a number': of(provenAll, set({ signature: 5 })) }),
  rule(noAddress('signer_address'), { short: of(provenAll, set({ signer_address: '0x1' })) }),
  rule(['invalid_issued_at', 'issued_at must be an integer', 'issued_at'], {
    'a fraction': of(provenAll, set({ issued_at: 1.5 })),
  }),
  rule(['invalid_expiry', 'expiry must be an integer', 'expiry'], {
    'a word': of(provenAll, set({ expiry: 'soon' })),
  }),
  rule(['invalid_expiry', 'expiry must be after issued_at', 'expiry'], {
    'the same second': of(provenAll, set({ expiry: 4_102_444_800 })),
  }),
  rule(
    // CAN-018
    ['cancel_proof_too_long', 'the signed cancel may be valid for at most 60 seconds', 'expiry'],
    { '61 seconds': of(provenAll, set({ expiry: 4_102_444_861 })) },
  ),
]

export const cancelListRules: readonly Rule<object>[] = [
  ...sharedRules,
  rule(required('order_ids'), valuesOf('order_ids', [undefined, null])),
  rule(
    // CAN-016
    ['invalid_order_ids', 'order_ids must be a list of 1 to 200 order ids', 'order_ids'],
    valuesOf('order_ids', [
      [],
      'a',
      {},
      [''],
      [7],
      ['a\nb'],
      ['a', ''],
      ['x'.repeat(129)],
      Array.from({ length: 201 }, (_, n) => `${n}`),
    ]),
  ),
  rule(REASON, valuesOf('reason', ['x'.repeat(129)])),
]

export const cancelAllAfterRules: readonly Rule<object>[] = [
  ...sharedRules,
  unknownRule('markets'),
  rule(required('seconds'), valuesOf('seconds', [undefined, null])),
  rule(
    // CAN-026
    ['invalid_seconds', 'seconds must be 0 or an integer from 10 to 86400', 'seconds'],
    valuesOf('seconds', [9, 86_401, 10.5, '60', -1, true]),
  ),
]

export const cancelRules: readonly Rule<object>[] = [
  rule(
    INVALID_JSON,
    each(['{"nonce":', '', '[]', 'null', '7', '"x"'], (text) => [`the body ${text}`, () => text]),
  ),
  ...['owner_address', 'nonce'].map((field) =>
    rule(required(field), valuesOf(field, [undefined, null])),
  ),
  ...['signer_address', 'expiry'].map((field) =>
    rule(required(field), { 'beside a signature': of(proven, set({ [field]: undefined })) }),
  ),
  rule(noAddress('owner_address'), valuesOf('owner_address', ['0x12'])),
  rule(noAddress('signer_address'), { short: of(proven, set({ signer_address: '0x1' })) }),
  ...['0x7', 1].map((nonce) => rule(noInteger('nonce', nonce), valuesOf('nonce', [nonce]))),
  rule(REASON, valuesOf('reason', ['x'.repeat(129), 'a\nb', '\ud800', 5, ['a']])),
  rule(noText('signature'), { 'a number': of(proven, set({ signature: 5 })) }),
  rule(['invalid_expiry', 'expiry must be an integer', 'expiry'], {
    'a fraction': of(proven, set({ expiry: 1.5 })),
  }),
]

/** What the state of the venue decides about cancels of many orders. */
export const statedOfMany: readonly Stated[] = [
  [cancelsRefusals.issuedAtFuture, 403, 'cancel_proof_early', 'issued_at is in the future'],
  [
    cancelsRefusals.proofUsed,
    403,
    'cancel_proof_used',
    'the signed cancel was used before: sign a new one',
  ],
  [
    cancelsRefusals.proofUseUnknown,
    500,
    'cancel_proof_use_unknown',
    'the use of the signed cancel could not be noted: nothing was cancelled, safe to retry with a new one',
  ],
  [
    cancelsRefusals.leaseEnded,
    409,
    'lease_ended',
    'the lease has ended: the orders under it are cancelled',
  ],
  [
    cancelsRefusals.tooManyLeases,
    500,
    'too_many_leases',
    'the market has too many leases: nothing was set, safe to retry',
  ],
  [cancelsRefusals.otherOwner, 403, 'order_of_another_owner', 'the order belongs to another owner'],
]
