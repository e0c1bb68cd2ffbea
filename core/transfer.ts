import type { Address, Hex } from './action.js'
import type { AmountE18, TokenUnits6 } from './money.js'

/** The words of deposits and withdrawals: one signed action each, carried out by at most one transaction. */
export type TransferKind = 'deposit' | 'withdrawal'

/** The journal's id of the transaction that carries a transfer out. */
export const intentOf = (kind: TransferKind, actionHash: Hex): string => `${kind}:${actionHash}`

/** The transfer of an intent id; undefined when it is a preparation. */
export function actionHashOf(kind: TransferKind, intentId: string): Hex | undefined {
  const prefix = `${kind}:`
  return intentId.startsWith(prefix) ? (intentId.slice(prefix.length) as Hex) : undefined
}

/**
 * How a transfer stands. `pending`: claimed, being checked and submitted; `submitted`: broadcast, receipt not yet
 * known; `confirmed`, `reverted`: what its receipt said; `rejected`: refused before anything was sent, so that the same
 * request may be sent again; `unknown`: whether it was submitted could not be confirmed.
 */
export type TransferState =
  'pending' | 'submitted' | 'confirmed' | 'reverted' | 'rejected' | 'unknown'

/** One deposit or withdrawal as its submitter remembers it. */
export interface TransferRecord {
  readonly kind: TransferKind
  /** EIP-712 digest of the signed action, lower case: its identity, whatever the signature's bytes are. */
  readonly actionHash: Hex
  readonly status: TransferState
  readonly owner: Address
  readonly nonce: bigint
  /** The account that the action names; 0 on a deposit that opens one. */
  readonly subaccountIdRequested: bigint
  /** The account that was credited or debited, once it is known. */
  readonly subaccountId?: bigint
  /** The asset that the action names: cash, or the wrapped asset that pays out. */
  readonly asset: Address
  readonly amount: TokenUnits6
  /** What the chain credited the account with, of a confirmed deposit. */
  readonly credited?: AmountE18
  readonly txHash?: Hex
  /** Of the permit that went before a deposit, when one was needed. */
  readonly permitTxHash?: Hex
  readonly blockNumber?: bigint
  /** Why it was rejected, or what is not known. */
  readonly error?: string
  /** The revert that refused it, in the simulation or in the block; revertFields presents it. */
  readonly revert?: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Why a submitter takes no new requests: its wallet is below its reserve, or the hour's gas is spent. */
export type GasPause = 'gas_reserve' | 'gas_budget'

/** How the wallet that pays a submitter's gas stands; amounts in wei. */
export interface GasStanding {
  readonly signer: Address
  /** Absent while the chain cannot be read. */
  readonly balanceWei?: bigint
  /** Nothing is submitted while the balance is below this. */
  readonly reserveWei: bigint
  /** Most gas of one hour. */
  readonly hourBudgetWei: bigint
  readonly hourSpentWei: bigint
  /** Absent while requests are taken. */
  readonly paused?: GasPause
}
