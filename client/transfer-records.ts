import type { ActionJson } from '../core/action.js'
import type { TransferStatus } from '../core/transfer.js'

/** What the venue takes and answers about deposits and withdrawals, as far as a client relies on it. */

/** An EIP-2612 permit as a deposit carries it. */
export interface PermitBody {
  /** In base units of USDC. */
  readonly value: string
  /** Unix seconds. */
  readonly deadline: string
  readonly signature: string
}

/** Body of `POST /v1/deposits`. */
export interface DepositBody {
  readonly action: ActionJson
  readonly signature: string
  readonly permit?: PermitBody
}

/** Body of `POST /v1/withdrawals`. */
export interface WithdrawalBody {
  readonly action: ActionJson
  readonly signature: string
}

interface TransferFields {
  /** EIP-712 digest of the signed action: what the venue knows it by. */
  readonly action_hash: string
  readonly status: TransferStatus
  /** The account that is credited or debited, once it is known. */
  readonly subaccount_id?: string
  readonly tx_hash?: string
  readonly block_number?: string
  /** Name of the revert, when there was one. */
  readonly revert?: string
  /** Base units of the token. */
  readonly amount_units: string
}

interface DepositFields extends TransferFields {
  /** With six decimals. */
  readonly amount_usdc: string
  readonly credited_cash_e18: string
  readonly permit_tx_hash?: string
}

interface WithdrawalFields extends TransferFields {
  readonly asset_address: string
  /** With six decimals. */
  readonly amount: string
}

interface ReceiptFields {
  /** False when it was mined and reverted. */
  readonly accepted: boolean
  /** `timeout`: broadcast, receipt not yet known; no failure. */
  readonly receipt_status: 'success' | 'timeout' | 'reverted'
}

interface RecordFields {
  readonly owner: string
  readonly nonce: string
  /** Why it was rejected, or what is not known. */
  readonly error?: string
  readonly created_at: string
  readonly updated_at: string
}

/** What became of a deposit that was sent. */
export type DepositReceipt = DepositFields & ReceiptFields
/** A deposit wherever it stands. */
export type DepositRecord = DepositFields & RecordFields
/** What became of a withdrawal that was sent. */
export type WithdrawalReceipt = WithdrawalFields & ReceiptFields
/** A withdrawal wherever it stands. */
export type WithdrawalRecord = WithdrawalFields & RecordFields
