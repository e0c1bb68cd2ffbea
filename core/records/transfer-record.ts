import { assert } from '../assert.js'
import { formatFixed } from '../decimal.js'
import { unitsToE18 } from '../money.js'
import type { TransferKind, TransferRecord, TransferStatus } from '../transfer.js'
import { isoTime } from './iso-time.js'

/** A deposit or withdrawal as clients read it; fields that do not apply are absent. */
export type PresentedTransfer = Readonly<Record<string, string | boolean>>

/** The record of interface 4.1, and its like for a withdrawal: wherever it stands. */
export function transferRecord(record: TransferRecord): PresentedTransfer {
  return {
    action_hash: record.actionHash,
    status: record.status,
    owner: record.owner,
    ...amountFields[record.kind](record),
    nonce: record.nonce.toString(),
    ...(record.kind === 'deposit' && {
      subaccount_id_requested: record.subaccountIdRequested.toString(),
    }),
    ...accountField(record),
    ...transactionFields(record),
    ...(record.error !== undefined && { error: record.error }),
    ...(record.revert !== undefined && { revert: record.revert }),
    created_at: isoTime(record.createdAtMs),
    updated_at: isoTime(record.updatedAtMs),
  }
}

const receiptStatus = {
  confirmed: 'success',
  submitted: 'timeout',
  reverted: 'reverted',
} as const satisfies Partial<Record<TransferStatus, string>>
type SentStatus = keyof typeof receiptStatus

/** Whether a transaction was broadcast and its fate is known as far as it can be: such a transfer has a receipt. */
export const hasReceipt = (
  record: TransferRecord,
): record is TransferRecord & { readonly status: SentStatus } => record.status in receiptStatus

/** The receipt that answers a request, of a transfer that was sent. */
export function transferReceipt(record: TransferRecord): PresentedTransfer {
  assert(hasReceipt(record), `no receipt of a ${record.kind} that is ${record.status}`)
  return {
    action_hash: record.actionHash,
    status: record.status,
    accepted: record.status !== 'reverted',
    receipt_status: receiptStatus[record.status],
    ...transactionFields(record),
    ...accountField(record),
    ...amountFields[record.kind](record),
    ...(record.revert !== undefined && { revert: record.revert }),
  }
}

const amountFields: Readonly<
  Record<TransferKind, (record: TransferRecord) => Readonly<Record<string, string>>>
> = {
  deposit: ({ amount, credited = unitsToE18(amount) }) => ({
    amount_usdc: formatFixed(amount, 6),
    amount_units: amount.toString(),
    credited_cash_e18: credited.toString(),
  }),
  withdrawal: ({ asset, amount }) => ({
    asset_address: asset,
    amount: formatFixed(amount, 6),
    amount_units: amount.toString(),
  }),
}

const accountField = ({ subaccountId }: TransferRecord) =>
  subaccountId === undefined ? {} : { subaccount_id: subaccountId.toString() }

function transactionFields({ txHash, permitTxHash, blockNumber }: TransferRecord) {
  return {
    ...(txHash !== undefined && { tx_hash: txHash }),
    ...(permitTxHash !== undefined && { permit_tx_hash: permitTxHash }),
    ...(blockNumber !== undefined && { block_number: blockNumber.toString() }),
  }
}
