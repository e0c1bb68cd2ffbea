import type {
  DepositReceipt,
  DepositRecord,
  WithdrawalReceipt,
  WithdrawalRecord,
} from '../../interface/transfer.js'
import { assert } from '../assert.js'
import { formatFixed } from '../decimal.js'
import { unitsToE18 } from '../money.js'
import { revertFieldsOf } from '../revert.js'
import { isoTime } from '../time.js'
import type { TransferRecord, TransferState } from '../transfer.js'

/** Presents a deposit or withdrawal, whatever its status; fields that do not apply are absent. */
export function transferRecord(record: TransferRecord): DepositRecord | WithdrawalRecord {
  const fields = {
    action_hash: record.actionHash,
    status: record.status,
    owner: record.owner,
    nonce: record.nonce.toString(),
    ...accountField(record),
    ...transactionFields(record),
    ...(record.error !== undefined && { error: record.error }),
    ...revertFieldsOf(record.revert),
    created_at: isoTime(record.createdAtMs),
    updated_at: isoTime(record.updatedAtMs),
  }
  if (record.kind === 'withdrawal') return { ...fields, ...withdrawalAmounts(record) }
  return {
    ...fields,
    ...depositAmounts(record),
    subaccount_id_requested: record.subaccountIdRequested.toString(),
    ...permitField(record),
  }
}

const receiptStatus = {
  confirmed: 'success',
  submitted: 'timeout',
  reverted: 'reverted',
} as const satisfies Partial<Record<TransferState, string>>
type SentStatus = keyof typeof receiptStatus

/** Whether a transaction was broadcast, so that the transfer has a receipt. */
export const hasReceipt = (
  record: TransferRecord,
): record is TransferRecord & { readonly status: SentStatus } => record.status in receiptStatus

/** Presents a transfer that was broadcast, as the answer to its request; another one breaks an invariant. */
export function transferReceipt(record: TransferRecord): DepositReceipt | WithdrawalReceipt {
  const { kind, txHash, status, revert } = record
  assert(hasReceipt(record) && txHash !== undefined, `no receipt of a ${kind} that is ${status}`)
  const fields = {
    action_hash: record.actionHash,
    status: record.status,
    accepted: record.status !== 'reverted',
    receipt_status: receiptStatus[record.status],
    ...transactionFields(record),
    tx_hash: txHash,
    ...accountField(record),
    ...revertFieldsOf(revert),
  }
  return kind === 'withdrawal'
    ? { ...fields, ...withdrawalAmounts(record) }
    : { ...fields, ...depositAmounts(record), ...permitField(record) }
}

const depositAmounts = ({ amount, credited = unitsToE18(amount) }: TransferRecord) => ({
  amount_usdc: formatFixed(amount, 6),
  amount_units: amount.toString(),
  credited_cash_e18: credited.toString(),
})

const withdrawalAmounts = ({ asset, amount }: TransferRecord) => ({
  asset_address: asset,
  amount: formatFixed(amount, 6),
  amount_units: amount.toString(),
})

const accountField = ({ subaccountId }: TransferRecord) =>
  subaccountId === undefined ? {} : { subaccount_id: subaccountId.toString() }

const permitField = ({ permitTxHash }: TransferRecord) =>
  permitTxHash === undefined ? {} : { permit_tx_hash: permitTxHash }

const transactionFields = ({ txHash, blockNumber }: TransferRecord) => ({
  ...(txHash !== undefined && { tx_hash: txHash }),
  ...(blockNumber !== undefined && { block_number: blockNumber.toString() }),
})
