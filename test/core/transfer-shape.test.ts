import { expect } from 'chai'
import type { ActionJson } from '../../core/action.js'
import { tokenUnits6 } from '../../core/money.js'
import { refusePermit } from '../../core/read-permit.js'
import { readTransferBody } from '../../core/read-transfer-body.js'
import type { TransferRefusal } from '../../core/transfer-refusals.js'
import { validateDeposit } from '../../core/validate-deposit.js'
import { validateWithdrawal } from '../../core/validate-withdrawal.js'
import {
  NOW_MS,
  aDepositBody,
  aWithdrawalBody,
  expiryIn,
  places,
} from '../support/transfer-bodies.js'

const { depositModule, withdrawalModule, cashAsset, perpManager, wrappedUsdc, wrappedCngn } = places
const MAX_UINT256 = 2n ** 256n - 1n

function deposit(sent: unknown) {
  const body = readTransferBody('deposit', sent)
  if ('refusal' in body) return body
  return validateDeposit(body, { depositModule, cashAsset, perpManager, nowMs: NOW_MS })
}

function withdrawal(sent: unknown) {
  const body = readTransferBody('withdrawal', sent)
  if ('refusal' in body) return body
  const withdrawable = [wrappedUsdc, wrappedCngn]
  return validateWithdrawal(body, { withdrawalModule, withdrawable, nowMs: NOW_MS })
}

function refusalOf(checked: object): TransferRefusal {
  expect(checked).to.have.property('refusal')
  return (checked as { refusal: TransferRefusal }).refusal
}

/** A change to a valid body, and the text and field of the refusal that it brings. */
type Row = readonly [sent: unknown, message: string, field?: string]
type Fields = Partial<Record<keyof ActionJson, unknown>>

const depositWith = (action: Fields, more: object = {}) => {
  const body = aDepositBody()
  return { ...body, action: { ...body.action, ...action }, ...more }
}
const withdrawalWith = (action: Fields, more: object = {}) => {
  const body = aWithdrawalBody()
  return { ...body, action: { ...body.action, ...action }, ...more }
}
const without = (body: object, name: string): object =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))
const permit = { value: '25000000', deadline: expiryIn(60), signature: `0x${'11'.repeat(65)}` }

const notInteger = (field: string, shown: string): string =>
  `invalid integer value for ${field}: expected a string of base-10 digits in range, got ${shown}`
const SIGNATURE_FORM = 'signature must be 0x-prefixed hex of at most 4096 bytes'
const DEPOSIT_DATA =
  'action.data must be abi.encode(uint256 amount, address asset, address managerForNewAccount): ' +
  'exactly 96 bytes'
const WITHDRAWAL_DATA =
  'action.data must be abi.encode(address asset, uint256 amount): exactly 64 bytes'

/** What both kinds refuse in the same words, given how each makes a body. */
const commonRows = (
  valid: { readonly action: ActionJson; readonly signature: string },
  changed: (action: Fields, more?: object) => object,
): readonly Row[] => [
  [[], 'invalid JSON body'],
  [null, 'invalid JSON body'],
  [undefined, 'invalid JSON body'],
  [without(valid, 'action'), 'action is required', 'action'],
  [without(valid, 'signature'), 'signature is required', 'signature'],
  [changed({}, { amount: '5' }), 'invalid JSON body', 'amount'],
  [changed({}, { action: JSON.stringify(valid.action) }), 'invalid JSON body', 'action'],
  [changed({}, { signature: 5 }), 'invalid JSON body', 'signature'],
  [{ ...valid, action: { ...valid.action, chain: '1' } }, 'invalid JSON body', 'action.chain'],
  [
    { ...valid, action: without(valid.action, 'nonce') },
    'action.nonce is required',
    'action.nonce',
  ],
  [changed({ nonce: '0x10' }), notInteger('action.nonce', '"0x10"'), 'action.nonce'],
  [changed({ nonce: 77 }), notInteger('action.nonce', 'a JSON number'), 'action.nonce'],
  [changed({ expiry: '1e9' }), notInteger('action.expiry', '"1e9"'), 'action.expiry'],
  [changed({ owner: '0x12' }), 'action.owner must be 0x followed by 40 hex digits', 'action.owner'],
  [changed({ expiry: expiryIn(0) }), 'action has expired; sign a fresh one', 'action.expiry'],
  [
    changed({ expiry: expiryIn(3_601) }),
    'action.expiry may be at most one hour ahead',
    'action.expiry',
  ],
  [changed({}, { signature: 'none' }), SIGNATURE_FORM, 'signature'],
  [changed({}, { signature: '0x123' }), SIGNATURE_FORM, 'signature'],
  [changed({}, { signature: `0x${'00'.repeat(4_097)}` }), SIGNATURE_FORM, 'signature'],
]

const depositRows: readonly Row[] = [
  ...commonRows(aDepositBody(), depositWith),
  [
    depositWith({ module: withdrawalModule }),
    `action.module must be the deposit module ${depositModule}`,
    'action.module',
  ],
  [
    depositWith({ signer: places.stranger }),
    'action.signer must be action.owner; session-key deposits are not supported',
    'action.signer',
  ],
  ...['0x', '0xabc', 'zz', 7, `0x${'00'.repeat(64)}`, `0x${'00'.repeat(128)}`].map((data): Row => [
    depositWith({ data }),
    DEPOSIT_DATA,
    'action.data',
  ]),
  [
    aDepositBody({ asset: wrappedUsdc }),
    `asset ${wrappedUsdc} is not depositable; only the perp cash asset is`,
    'action.data.asset',
  ],
  [
    aDepositBody({ amount: MAX_UINT256 }),
    'amount must be explicit; the max sentinel (deposit the whole balance) is not accepted',
    'action.data.amount',
  ],
  [
    aDepositBody({ amount: 9_999_999n }),
    'amount 9.999999 USDC is below the minimum 10 USDC',
    'action.data.amount',
  ],
  [
    aDepositBody({ managerForNewAccount: places.stranger }),
    `a new account must be opened under the perp risk manager ${perpManager}`,
    'action.data.managerForNewAccount',
  ],
  [{ ...aDepositBody(), permit: 'yes' }, 'invalid JSON body', 'permit'],
  [{ ...aDepositBody(), permit: { ...permit, v: 27 } }, 'invalid JSON body', 'permit.v'],
  [
    { ...aDepositBody(), permit: without(permit, 'deadline') },
    'permit.deadline is required',
    'permit.deadline',
  ],
  [
    { ...aDepositBody(), permit: { ...permit, value: '-1' } },
    notInteger('permit.value', '"-1"'),
    'permit.value',
  ],
  [
    { ...aDepositBody(), permit: { ...permit, deadline: 12 } },
    notInteger('permit.deadline', 'a JSON number'),
    'permit.deadline',
  ],
  [
    { ...aDepositBody(), permit: { ...permit, signature: 'x' } },
    'permit.signature must be 0x-prefixed hex of at most 4096 bytes',
    'permit.signature',
  ],
]

const withdrawalRows: readonly Row[] = [
  ...commonRows(aWithdrawalBody(), withdrawalWith),
  [withdrawalWith({}, { permit }), 'invalid JSON body', 'permit'],
  [
    withdrawalWith({ module: depositModule }),
    `action.module must be the withdrawal module ${withdrawalModule}`,
    'action.module',
  ],
  [
    withdrawalWith({ subaccount_id: '0' }),
    'action.subaccount_id must not be 0',
    'action.subaccount_id',
  ],
  [
    withdrawalWith({ signer: places.stranger }),
    'action.signer must be action.owner; session-key withdrawals are not supported',
    'action.signer',
  ],
  ...[`0x${'00'.repeat(32)}`, `0x${'00'.repeat(96)}`].map((data): Row => [
    withdrawalWith({ data }),
    WITHDRAWAL_DATA,
    'action.data',
  ]),
  [
    aWithdrawalBody({ asset: cashAsset }),
    `asset ${cashAsset} is not withdrawable`,
    'action.data.asset',
  ],
  [
    aWithdrawalBody({ amount: 0n }),
    'withdrawal amount must be greater than 0',
    'action.data.amount',
  ],
]

const shown = (sent: unknown): string => JSON.stringify(sent)?.slice(0, 60) ?? 'nothing'

function refusesEach(rows: readonly Row[], check: (sent: unknown) => object): void {
  rows.forEach(([sent, message, field], index) => {
    it(`${index + 1}: ${message.slice(0, 60)} (${shown(sent)})`, () => {
      const refusal = refusalOf(check(sent))
      expect(refusal).to.include({ status: 400, message })
      expect(refusal.field).to.equal(field)
    })
  })
}

describe('the shape of a deposit', () => {
  it('is taken when everything is right, hex in any case', () => {
    const { action, signature } = aDepositBody()
    const sent = {
      action: { ...action, module: action.module.toUpperCase().replace('X', 'x') },
      signature,
    }
    expect(deposit(sent)).to.deep.include({
      amount: 25_000_000n,
      asset: cashAsset,
      managerForNewAccount: perpManager,
      signature,
    })
  })

  it('carries a permit that is well-formed, whatever it says', () => {
    const taken = deposit({ ...aDepositBody(), permit: { ...permit, value: '0', deadline: '0' } })
    expect(taken).to.deep.include({ permit: { ...permit, value: 0n, deadline: 0n } })
    expect(deposit({ ...aDepositBody(), permit: null })).not.to.have.property('permit')
  })

  it('allows exactly the minimum, exactly an hour, and any manager on a top-up', () => {
    const words = { amount: 10_000_000n, managerForNewAccount: places.stranger }
    const topUp = aDepositBody(words, { subaccount_id: '4', expiry: expiryIn(3_600) })
    expect(deposit(topUp)).to.deep.include({ amount: 10_000_000n })
  })

  refusesEach(depositRows, deposit)

  it('answers the first of several faults in the order of the interface', () => {
    const faults = [
      ['wrong_module', { module: places.stranger }],
      ['signer_not_owner', { signer: places.stranger }],
      ['action_expired', { expiry: '1' }],
      ['invalid_action_data', { data: '0x' }],
    ] as const
    faults.forEach(([code], index) => {
      const rest = Object.assign({}, ...faults.slice(index).map(([, fields]) => fields)) as Fields
      expect(refusalOf(deposit(depositWith(rest, { signature: 'x' }))).code).to.equal(code)
    })
    const words = { asset: wrappedUsdc, amount: 1n, managerForNewAccount: places.stranger }
    const codes = [words, { ...words, asset: cashAsset }].map(
      (each) => refusalOf(deposit({ ...aDepositBody(each), signature: 'x' })).code,
    )
    expect(codes).to.deep.equal(['asset_not_depositable', 'deposit_below_minimum'])
  })
})

describe('the shape of a withdrawal', () => {
  it('is taken when everything is right', () => {
    expect(withdrawal(aWithdrawalBody({ asset: wrappedCngn, amount: 1n }))).to.deep.include({
      asset: wrappedCngn,
      amount: 1n,
    })
  })

  refusesEach(withdrawalRows, withdrawal)

  it('answers the first of several faults in the order of the interface', () => {
    const faults = [
      ['wrong_module', { module: places.stranger }],
      ['subaccount_zero', { subaccount_id: '0' }],
      ['signer_not_owner', { signer: places.stranger }],
      ['action_expiry_too_far', { expiry: expiryIn(9_999) }],
      ['invalid_action_data', { data: '0x' }],
    ] as const
    faults.forEach(([code], index) => {
      const rest = Object.assign({}, ...faults.slice(index).map(([, fields]) => fields)) as Fields
      expect(refusalOf(withdrawal(withdrawalWith(rest, { signature: 'x' }))).code).to.equal(code)
    })
  })
})

describe('a permit', () => {
  const amount = tokenUnits6(25_000_000n)
  const given = { value: 25_000_000n, deadline: BigInt(expiryIn(1)), signature: '0x11' } as const

  it('covers the deposit when it is as large and lasts', () => {
    expect(refusePermit(given, amount, NOW_MS)).to.equal(undefined)
  })

  it('is refused when it is too small or over', () => {
    expect(refusePermit({ ...given, value: 24_999_999n }, amount, NOW_MS)).to.include({
      status: 400,
      message: 'permit.value 24999999 is below the deposit amount 25000000',
    })
    expect(refusePermit({ ...given, deadline: BigInt(expiryIn(0)) }, amount, NOW_MS)).to.include({
      status: 400,
      message: 'permit has expired',
    })
  })
})
