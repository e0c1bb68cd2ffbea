import type { ActionJson, Address } from '../../core/action.js'
import {
  encodeDepositData,
  encodeWithdrawalData,
  type DepositData,
  type WithdrawalData,
} from '../../core/entry/read-action.js'
import { tokenUnits6 } from '../../core/money.js'
import type { TransferRecord } from '../../core/transfer.js'

const address = (byte: string): Address => `0x${byte.repeat(20)}`

/** Addresses of a deployment that exists nowhere. */
export const places = {
  depositModule: address('d1'),
  withdrawalModule: address('d2'),
  cashAsset: address('ca'),
  perpManager: address('3a'),
  wrappedUsdc: address('51'),
  wrappedCngn: address('52'),
  owner: address('ab'),
  unrelated: address('ee'),
} as const

/** The time at which bodies made here are valid, unix milliseconds. */
export const NOW_MS = Date.parse('2026-11-21T10:00:00.500Z')
const inSec = (seconds: number): string => `${Math.floor(NOW_MS / 1_000) + seconds}`

/** A body as JSON, open for a test to break. */
export interface SentTransfer {
  readonly action: ActionJson
  readonly signature: string
}

const actionOf = (module: Address, subaccountId: string, data: string): ActionJson => ({
  subaccount_id: subaccountId,
  nonce: '77',
  module,
  data,
  expiry: inSec(600),
  owner: places.owner,
  signer: places.owner,
})

/** A deposit of 25 USDC that opens an account; `words` and `action` change parts of it. */
export function aDepositBody(
  words: Partial<DepositData> = {},
  action: Partial<ActionJson> = {},
): SentTransfer {
  const data = encodeDepositData({
    amount: 25_000_000n,
    asset: places.cashAsset,
    managerForNewAccount: places.perpManager,
    ...words,
  })
  return {
    action: { ...actionOf(places.depositModule, '0', data), ...action },
    signature: `0x${'5e'.repeat(65)}`,
  }
}

/** A withdrawal of 4 USDC out of account 9; `words` and `action` change parts of it. */
export function aWithdrawalBody(
  words: Partial<WithdrawalData> = {},
  action: Partial<ActionJson> = {},
): SentTransfer {
  const data = encodeWithdrawalData({ asset: places.wrappedUsdc, amount: 4_000_000n, ...words })
  return {
    action: { ...actionOf(places.withdrawalModule, '9', data), ...action },
    signature: `0x${'5e'.repeat(65)}`,
  }
}

/** Unix seconds as an action says them, from the time at which bodies made here are valid. */
export const expiryIn = inSec

/** A confirmed deposit that opened account 12, with changes. */
export function aTransfer(changes: Partial<TransferRecord> = {}): TransferRecord {
  return {
    kind: 'deposit',
    actionHash: `0x${'ac'.repeat(32)}`,
    status: 'confirmed',
    owner: places.owner,
    nonce: 77n,
    subaccountIdRequested: 0n,
    subaccountId: 12n,
    asset: places.cashAsset,
    amount: tokenUnits6(25_000_000n),
    txHash: `0x${'77'.repeat(32)}`,
    blockNumber: 31n,
    createdAtMs: NOW_MS,
    updatedAtMs: NOW_MS + 2_000,
    ...changes,
  }
}

/** A record of the given kind without what only a sent transfer has. */
export function anUnsentTransfer(changes: Partial<TransferRecord> = {}): TransferRecord {
  const { txHash, blockNumber, subaccountId, ...record } = aTransfer({ status: 'pending' })
  void [txHash, blockNumber, subaccountId]
  return { ...record, ...changes }
}
