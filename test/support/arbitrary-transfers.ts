import fc from 'fast-check'
import { amountE18, tokenUnits6 } from '../../core/money.js'
import type { GasStanding, TransferRecord } from '../../core/transfer.js'
import { anyAddress, anyHash, anyMs, anyText, anyUint } from './arbitraries.js'

/** Any record that a submitter could write, whether or not its fields go together. */
export const anyTransfer: fc.Arbitrary<TransferRecord> = fc.record(
  {
    kind: fc.constantFrom('deposit', 'withdrawal'),
    actionHash: anyHash,
    status: fc.constantFrom('pending', 'submitted', 'confirmed', 'reverted', 'rejected', 'unknown'),
    owner: anyAddress,
    nonce: anyUint,
    subaccountIdRequested: anyUint,
    subaccountId: anyUint,
    asset: anyAddress,
    amount: anyUint.map(tokenUnits6),
    credited: anyUint.map(amountE18),
    txHash: anyHash,
    permitTxHash: anyHash,
    blockNumber: anyUint,
    error: anyText,
    revert: anyText,
    createdAtMs: anyMs,
    updatedAtMs: anyMs,
  },
  {
    requiredKeys: [
      'kind',
      'actionHash',
      'status',
      'owner',
      'nonce',
      'subaccountIdRequested',
      'asset',
      'amount',
      'createdAtMs',
      'updatedAtMs',
    ],
  },
)

export const anyGasStanding: fc.Arbitrary<GasStanding> = fc.record(
  {
    signer: anyAddress,
    balanceWei: anyUint,
    reserveWei: anyUint,
    hourBudgetWei: anyUint,
    hourSpentWei: anyUint,
    paused: fc.constantFrom('gas_reserve', 'gas_budget'),
  },
  { requiredKeys: ['signer', 'reserveWei', 'hourBudgetWei', 'hourSpentWei'] },
)
