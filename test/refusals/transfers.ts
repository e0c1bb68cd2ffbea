import type { ActionJson } from '../../core/action.js'
import {
  aDepositBody,
  aWithdrawalBody,
  expiryIn,
  places,
  type SentTransfer,
} from '../support/transfer-bodies.js'
import {
  each,
  INVALID_JSON,
  noAddress,
  noInteger,
  noSignature,
  required,
  rule,
  set,
  shown,
  valuesOf,
  type Rule,
} from './rule.js'

type TransferRule = Rule<SentTransfer>

const { depositModule, withdrawalModule, cashAsset, perpManager, wrappedUsdc } = places

const setAction =
  (fields: Partial<Record<keyof ActionJson | 'chain', unknown>>) =>
  (good: SentTransfer): object => ({ ...good, action: { ...good.action, ...fields } })
const actions = (field: keyof ActionJson, values: readonly unknown[]): TransferRule['when'] =>
  each(values, (value) => [`${field} ${shown(value)}`, setAction({ [field]: value })])

/** A field that the request does not have, or that is of another JSON type. */
const notInBody = (field: string, when: TransferRule['when']): TransferRule =>
  rule([INVALID_JSON[0], INVALID_JSON[1], field], when)

const expected = (expected: string, rule: TransferRule): TransferRule => ({
  ...rule,
  detail: { expected },
})

/** What both kinds refuse in the same words. */
const common: readonly TransferRule[] = [
  rule(
    INVALID_JSON,
    each(['{"action":', '', '[]', 'null'], (text) => [text, () => text]),
  ),
  rule(required('action'), valuesOf('action', [undefined])),
  rule(required('signature'), valuesOf('signature', [undefined])),
  // TRA-001
  notInBody('amount', { 'an unknown field': set({ amount: '5' }) }),
  notInBody('action', { 'as text': (good) => set({ action: JSON.stringify(good.action) })(good) }),
  notInBody('x'.repeat(80), { 'a field of 100 characters': set({ ['x'.repeat(100)]: '5' }) }),
  notInBody('signature', { 'a number': set({ signature: 5 }) }),
  notInBody('action.chain', { 'an unknown field': setAction({ chain: '1' }) }),
  rule(required('action.nonce'), actions('nonce', [undefined])),
  ...['0x10', 77].map((nonce) => rule(noInteger('action.nonce', nonce), actions('nonce', [nonce]))),
  rule(noInteger('action.expiry', '1e9'), actions('expiry', ['1e9'])),
  rule(noAddress('action.owner'), actions('owner', ['0x12'])),
  rule(
    ['action_expired', 'action has expired; sign a fresh one', 'action.expiry'],
    actions('expiry', [expiryIn(0), '1']),
  ),
  rule(
    // TRA-005
    ['action_expiry_too_far', 'action.expiry may be at most one hour ahead', 'action.expiry'],
    actions('expiry', [expiryIn(3_601)]),
  ),
  rule(
    noSignature('signature', 'invalid_signature_form'),
    valuesOf('signature', ['none', '0x123', `0x${'00'.repeat(4_097)}`]),
  ),
]

const permit = { value: '25000000', deadline: expiryIn(60), signature: `0x${'11'.repeat(65)}` }
const setPermit = (fields: object) => set({ permit: { ...permit, ...fields } })

const permits: readonly TransferRule[] = [
  notInBody('permit', { 'a text': set({ permit: 'yes' }) }),
  notInBody('permit.v', { 'an unknown field': setPermit({ v: 27 }) }),
  ...['value', 'deadline', 'signature'].map((name) =>
    rule<SentTransfer>(required(`permit.${name}`), { none: setPermit({ [name]: undefined }) }),
  ),
  rule(noInteger('permit.value', '-1'), { 'below zero': setPermit({ value: '-1' }) }),
  rule(noInteger('permit.deadline', 12), { 'a number': setPermit({ deadline: 12 }) }),
  rule(noSignature('permit.signature', 'invalid_permit_signature_form'), {
    'no hex': setPermit({ signature: 'x' }),
  }),
]

const DEPOSIT_DATA =
  'action.data must be abi.encode(uint256 amount, address asset, address managerForNewAccount): ' +
  'exactly 96 bytes'
const WITHDRAWAL_DATA =
  'action.data must be abi.encode(address asset, uint256 amount): exactly 64 bytes'
const WORDS = [32, 64, 96, 128].map((bytes) => `0x${'00'.repeat(bytes)}`)
const NO_DATA = ['0x', '0xabc', 'zz', 7]

/** Refusals of a deposit of 25 USDC that opens an account. */
export const depositRules: readonly TransferRule[] = [
  ...common,
  ...permits,
  expected(
    depositModule,
    rule(
      [
        // TRA-004
        'wrong_module',
        `action.module must be the deposit module ${depositModule}`,
        'action.module',
      ],
      actions('module', [withdrawalModule]),
    ),
  ),
  rule(
    [
      // AUT-023, TRA-003
      'signer_not_owner',
      'action.signer must be action.owner; session-key deposits are not supported',
      'action.signer',
    ],
    actions('signer', [places.unrelated]),
  ),
  rule(
    ['invalid_action_data', DEPOSIT_DATA, 'action.data'],
    actions('data', [...NO_DATA, ...WORDS.filter((_, index) => index !== 2)]),
  ),
  expected(
    cashAsset,
    rule(
      [
        // TRA-024
        'asset_not_depositable',
        `asset ${wrappedUsdc} is not depositable; only the perp cash asset is`,
        'action.data.asset',
      ],
      { 'another asset': () => aDepositBody({ asset: wrappedUsdc }) },
    ),
  ),
  rule(
    [
      // TRA-025
      'amount_not_explicit',
      'amount must be explicit; the max sentinel (deposit the whole balance) is not accepted',
      'action.data.amount',
    ],
    { 'the greatest uint256': () => aDepositBody({ amount: 2n ** 256n - 1n }) },
  ),
  rule(
    [
      // TRA-025
      'deposit_below_minimum',
      'amount 9.999999 USDC is below the minimum 10 USDC',
      'action.data.amount',
    ],
    { 'a unit less': () => aDepositBody({ amount: 9_999_999n }) },
  ),
  expected(
    perpManager,
    rule(
      [
        // TRA-026
        'wrong_manager',
        `a new account must be opened under the perp risk manager ${perpManager}`,
        'action.data.managerForNewAccount',
      ],
      { 'another manager': () => aDepositBody({ managerForNewAccount: places.unrelated }) },
    ),
  ),
]

/** Refusals of a withdrawal of 4 USDC out of account 9. */
export const withdrawalRules: readonly TransferRule[] = [
  ...common,
  notInBody('permit', { 'one of a deposit': set({ permit }) }),
  expected(
    withdrawalModule,
    rule(
      [
        'wrong_module',
        `action.module must be the withdrawal module ${withdrawalModule}`,
        'action.module',
      ],
      actions('module', [depositModule]),
    ),
  ),
  rule(
    // TRA-037
    ['subaccount_zero', 'action.subaccount_id must not be 0', 'action.subaccount_id'],
    actions('subaccount_id', ['0']),
  ),
  rule(
    [
      'signer_not_owner',
      'action.signer must be action.owner; session-key withdrawals are not supported',
      'action.signer',
    ],
    actions('signer', [places.unrelated]),
  ),
  rule(
    ['invalid_action_data', WITHDRAWAL_DATA, 'action.data'],
    actions('data', [...NO_DATA, ...WORDS.filter((_, index) => index !== 1)]),
  ),
  {
    ...rule<SentTransfer>(
      ['asset_not_withdrawable', `asset ${cashAsset} is not withdrawable`, 'action.data.asset'],
      { 'another asset': () => aWithdrawalBody({ asset: cashAsset }) },
    ),
    detail: { withdrawable: [wrappedUsdc, places.wrappedCngn] },
  },
  // TRA-039
  rule(['amount_not_positive', 'withdrawal amount must be greater than 0', 'action.data.amount'], {
    nothing: () => aWithdrawalBody({ amount: 0n }),
  }),
]
