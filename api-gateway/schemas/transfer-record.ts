import { z } from 'zod'
import { address, hash, integer, sixDecimals, time } from './values.js'

/** How a deposit or withdrawal stands. */
const transferStatus = z
  .enum(['pending', 'submitted', 'confirmed', 'reverted', 'rejected', 'unknown'])
  .meta({
    id: 'TransferStatus',
    description:
      '`pending`: being checked and submitted; `submitted`: broadcast, receipt not yet known; `confirmed`, `reverted`: ' +
      'mined; `rejected`: refused before anything was sent, may be sent again; `unknown`: not known whether it was ' +
      'submitted.',
  })

const depositAmounts = {
  amount_usdc: sixDecimals,
  amount_units: integer.describe('In base units of USDC.'),
  credited_cash_e18: integer.describe('What the account is credited once confirmed, at 1e18.'),
}
const withdrawalAmounts = {
  asset_address: address.describe('The asset that was held, not the token that is paid out.'),
  amount: sixDecimals,
  amount_units: integer.describe('In base units of the token.'),
}
const sentFields = {
  tx_hash: hash.optional(),
  block_number: integer.optional(),
}
const permitField = {
  permit_tx_hash: hash.optional().describe('When a permit was needed.'),
}
const receiptFields = {
  action_hash: hash.describe('EIP-712 digest of the signed action.'),
  status: z.enum(['submitted', 'confirmed', 'reverted']),
  accepted: z.boolean().describe('False when it was mined and reverted.'),
  receipt_status: z
    .enum(['success', 'timeout', 'reverted'])
    .describe('`timeout`: broadcast, receipt not yet known; no failure.'),
  ...sentFields,
  tx_hash: hash,
  revert: z.string().optional().describe('Name of the revert, when it reverted.'),
}
const recordFields = {
  action_hash: hash.describe('EIP-712 digest of the signed action.'),
  status: transferStatus,
  owner: address,
  nonce: integer,
  ...sentFields,
  error: z.string().optional().describe('Why it was rejected, or what is not known.'),
  revert: z.string().optional().describe('Name of the revert that stopped it.'),
  created_at: time,
  updated_at: time,
}

export const depositReceipt = z
  .object({
    ...receiptFields,
    ...permitField,
    subaccount_id: integer
      .optional()
      .describe('The account that is credited; absent until a new one is known.'),
    ...depositAmounts,
  })
  .meta({ id: 'DepositReceipt', description: 'A deposit that was sent.' })

export const depositRecord = z
  .object({
    ...recordFields,
    ...permitField,
    subaccount_id_requested: integer.describe('`0` when it opens an account.'),
    subaccount_id: integer.optional().describe('The account that is credited, once it is known.'),
    ...depositAmounts,
  })
  .meta({ id: 'Deposit', description: 'A deposit wherever it stands.' })

export const withdrawalReceipt = z
  .object({
    ...receiptFields,
    subaccount_id: integer.optional().describe('The account that is debited.'),
    ...withdrawalAmounts,
  })
  .meta({ id: 'WithdrawalReceipt', description: 'A withdrawal that was sent.' })

export const withdrawalRecord = z
  .object({
    ...recordFields,
    subaccount_id: integer.optional().describe('The account that is debited.'),
    ...withdrawalAmounts,
  })
  .meta({ id: 'Withdrawal', description: 'A withdrawal wherever it stands.' })
