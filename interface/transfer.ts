import { z } from 'zod'
import {
  address,
  hash,
  integer,
  revertDetail,
  revertName,
  sentAddress,
  sentHex,
  sentInteger,
  type Shape,
  signature,
  sixDecimals,
  time,
} from './values.js'

/** Deposits and withdrawals: what they are sent as, and their receipts and records (sections 4.1 to 4.3). */

const actionFields = {
  nonce: sentInteger.describe('Any number that this owner has not used with this module.'),
  expiry: sentInteger.describe('Unix seconds, at most one hour ahead.'),
  owner: sentAddress,
  signer: sentAddress.describe('Equal to `owner`.'),
}

/** An EIP-2612 permit as a deposit carries it. */
export const Permit = z.strictObject({
  value: sentInteger.describe('At least the amount.'),
  deadline: sentInteger.describe('Unix seconds.'),
  signature,
})
export type Permit = Shape<typeof Permit>

/** The body of `POST /v1/deposits`. Its checks, their order and their texts are those of core/entry. */
export const NewDeposit = z
  .strictObject({
    action: z
      .strictObject({
        ...actionFields,
        subaccount_id: sentInteger.describe('`0` opens an account; otherwise your own.'),
        module: sentAddress.describe('The deposit module.'),
        data: sentHex.describe(
          'Three words: amount in base units of USDC (at least 10 USDC), the perp cash asset, the perp risk manager.',
        ),
      })
      .meta({ id: 'DepositAction', description: 'What is signed, as EIP-712 struct `Action`.' }),
    signature,
    permit: Permit.optional().describe(
      'EIP-2612 permit on USDC for the deposit module; not used when the allowance suffices.',
    ),
  })
  .meta({ id: 'NewDeposit', description: 'A signed deposit. Unknown fields are refused.' })
export type NewDeposit = Shape<typeof NewDeposit>

/** The body of `POST /v1/withdrawals`. Its checks, their order and their texts are those of core/entry. */
export const NewWithdrawal = z
  .strictObject({
    action: z
      .strictObject({
        ...actionFields,
        subaccount_id: sentInteger.describe('The account, not `0`.'),
        module: sentAddress.describe('The withdrawal module.'),
        data: sentHex.describe(
          'Two words: the asset that is held (not the token it pays out), the amount in base units of the token.',
        ),
      })
      .meta({ id: 'WithdrawalAction', description: 'What is signed, as EIP-712 struct `Action`.' }),
    signature,
  })
  .meta({ id: 'NewWithdrawal', description: 'A signed withdrawal. Unknown fields are refused.' })
export type NewWithdrawal = Shape<typeof NewWithdrawal>

/** How a deposit or withdrawal stands. */
export const TransferStatus = z
  .enum(['pending', 'submitted', 'confirmed', 'reverted', 'rejected', 'unknown'])
  .meta({
    id: 'TransferStatus',
    description:
      '`pending`: being checked and submitted; `submitted`: broadcast, receipt not yet known; `confirmed`, `reverted`: ' +
      'mined; `rejected`: refused before anything was sent, may be sent again; `unknown`: not known whether it was ' +
      'submitted.',
  })
export type TransferStatus = Shape<typeof TransferStatus>

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
  revert: revertName.optional(),
  detail: revertDetail.optional(),
}
const recordFields = {
  action_hash: hash.describe('EIP-712 digest of the signed action.'),
  status: TransferStatus,
  owner: address,
  nonce: integer,
  ...sentFields,
  error: z.string().optional().describe('Why it was rejected, or what is not known.'),
  revert: revertName.optional(),
  detail: revertDetail.optional(),
  created_at: time,
  updated_at: time,
}

/** The answer to a deposit that was sent. */
export const DepositReceipt = z
  .object({
    ...receiptFields,
    ...permitField,
    subaccount_id: integer
      .optional()
      .describe('The account that is credited; absent until a new one is known.'),
    ...depositAmounts,
  })
  .meta({ id: 'DepositReceipt', description: 'A deposit that was sent.' })
export type DepositReceipt = Shape<typeof DepositReceipt>

/** The record of a deposit. */
export const DepositRecord = z
  .object({
    ...recordFields,
    ...permitField,
    subaccount_id_requested: integer.describe('`0` when it opens an account.'),
    subaccount_id: integer.optional().describe('The account that is credited, once it is known.'),
    ...depositAmounts,
  })
  .meta({ id: 'Deposit', description: 'A deposit wherever it stands.' })
export type DepositRecord = Shape<typeof DepositRecord>

/** The answer to a withdrawal that was sent. */
export const WithdrawalReceipt = z
  .object({
    ...receiptFields,
    subaccount_id: integer.optional().describe('The account that is debited.'),
    ...withdrawalAmounts,
  })
  .meta({ id: 'WithdrawalReceipt', description: 'A withdrawal that was sent.' })
export type WithdrawalReceipt = Shape<typeof WithdrawalReceipt>

/** The record of a withdrawal. */
export const WithdrawalRecord = z
  .object({
    ...recordFields,
    subaccount_id: integer.optional().describe('The account that is debited.'),
    ...withdrawalAmounts,
  })
  .meta({ id: 'Withdrawal', description: 'A withdrawal wherever it stands.' })
export type WithdrawalRecord = Shape<typeof WithdrawalRecord>

/** Query of the nonce of permits. */
export const PermitNonceQuery = z.object({
  owner_address: sentAddress.describe('Whose permit it will be.'),
})

/** The body of `GET /v1/permit-nonce`. */
export const PermitNonce = z
  .object({
    owner_address: address,
    token_address: address.describe('USDC, on which the permit is signed.'),
    nonce: integer.describe('Of the next permit; it counts up with each one that was used.'),
  })
  .meta({ id: 'PermitNonce', description: 'What the next permit of an owner is signed with.' })
export type PermitNonce = Shape<typeof PermitNonce>
