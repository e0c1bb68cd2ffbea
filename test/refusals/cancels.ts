import {
  each,
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

const owner = `0x${'ad'.repeat(20)}`

/** A cancel in form, without proof and with one; neither names an order that is there. */
export const goodCancel = { owner_address: owner, nonce: '7' }
const proven = { ...goodCancel, signer_address: owner, expiry: 4_102_444_800, signature: '0x' }

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
  rule(
    [
      'invalid_cancel_reason',
      'reason must be at most 128 characters of well-formed text without control characters',
      'reason',
    ],
    valuesOf('reason', ['x'.repeat(129), 'a\nb', 5]),
  ),
  rule(noText('signature'), { 'a number': of(proven, set({ signature: 5 })) }),
  rule(['invalid_expiry', 'expiry must be an integer', 'expiry'], {
    'a fraction': of(proven, set({ expiry: 1.5 })),
  }),
]
