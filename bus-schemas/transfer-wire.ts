import { z } from 'zod'
import { amountE18, tokenUnits6 } from '../core/money.js'
import type { TransferRecord } from '../core/transfer.js'
import { addressText, asAddress, asHex, uintText, wholeNumber } from './wire.js'

/** 32 bytes in lower case: the identity of an action, or of a transaction. */
export const hashText = z.string().regex(/^0x[0-9a-f]{64}$/)

/** A deposit or withdrawal as messages and stored rows hold it; numbers beyond 2^53 in decimal text. */
export const transferWire = z.strictObject({
  kind: z.enum(['deposit', 'withdrawal']),
  action_hash: hashText,
  status: z.enum(['pending', 'submitted', 'confirmed', 'reverted', 'rejected', 'unknown']),
  owner: addressText,
  nonce: uintText,
  subaccount_id_requested: uintText,
  subaccount_id: uintText.exactOptional(),
  asset: addressText,
  amount_units: uintText,
  credited_e18: uintText.exactOptional(),
  tx_hash: hashText.exactOptional(),
  permit_tx_hash: hashText.exactOptional(),
  block_number: uintText.exactOptional(),
  error: z.string().exactOptional(),
  revert: z.string().exactOptional(),
  created_at_ms: wholeNumber,
  updated_at_ms: wholeNumber,
})
export type TransferWire = z.infer<typeof transferWire>

/** The record's wire form; equal records give equal JSON. */
export function transferToWire(record: TransferRecord): TransferWire {
  const { subaccountId, credited, txHash, permitTxHash, blockNumber, error, revert } = record
  return {
    kind: record.kind,
    action_hash: record.actionHash,
    status: record.status,
    owner: record.owner,
    nonce: String(record.nonce),
    subaccount_id_requested: String(record.subaccountIdRequested),
    ...(subaccountId !== undefined && { subaccount_id: String(subaccountId) }),
    asset: record.asset,
    amount_units: String(record.amount),
    ...(credited !== undefined && { credited_e18: String(credited) }),
    ...(txHash !== undefined && { tx_hash: txHash }),
    ...(permitTxHash !== undefined && { permit_tx_hash: permitTxHash }),
    ...(blockNumber !== undefined && { block_number: String(blockNumber) }),
    ...(error !== undefined && { error }),
    ...(revert !== undefined && { revert }),
    created_at_ms: record.createdAtMs,
    updated_at_ms: record.updatedAtMs,
  }
}

/** The inverse of transferToWire. */
export function transferFromWire(wire: TransferWire): TransferRecord {
  return {
    kind: wire.kind,
    actionHash: asHex(wire.action_hash),
    status: wire.status,
    owner: asAddress(wire.owner),
    nonce: BigInt(wire.nonce),
    subaccountIdRequested: BigInt(wire.subaccount_id_requested),
    ...(wire.subaccount_id !== undefined && { subaccountId: BigInt(wire.subaccount_id) }),
    asset: asAddress(wire.asset),
    amount: tokenUnits6(BigInt(wire.amount_units)),
    ...(wire.credited_e18 !== undefined && { credited: amountE18(BigInt(wire.credited_e18)) }),
    ...(wire.tx_hash !== undefined && { txHash: asHex(wire.tx_hash) }),
    ...(wire.permit_tx_hash !== undefined && { permitTxHash: asHex(wire.permit_tx_hash) }),
    ...(wire.block_number !== undefined && { blockNumber: BigInt(wire.block_number) }),
    ...(wire.error !== undefined && { error: wire.error }),
    ...(wire.revert !== undefined && { revert: wire.revert }),
    createdAtMs: wire.created_at_ms,
    updatedAtMs: wire.updated_at_ms,
  }
}
