import { ChainUnreachable } from '../../chain/chain-unreachable.js'
import type { ChainClient } from '../../chain/client.js'
import type { TransferReader } from '../../chain/read-transfer.js'
import { readTransferReceipt } from '../../chain/transfer-receipt.js'
import type { TransferReceipt } from '../../chain/transfer-receipt.js'
import type { MinedTransaction, OpenTransaction } from '../../chain/transaction-journal.js'
import type { Address, Hex } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import type { TransferKind, TransferRecord } from '../../core/transfer.js'
import type { GasWallet } from './gas.js'
import { isSettled } from './record-book.js'
import type { RecordBook, RecordChange } from './record-book.js'
import { intentOf } from './transactions.js'
import type { Transactions } from './transactions.js'

export interface FollowDeps {
  readonly kind: TransferKind
  readonly module: Address
  readonly matching: Address
  readonly records: RecordBook
  readonly transactions: Transactions
  readonly gas: Pick<GasWallet, 'paid'>
  readonly revertName: (asset: Address, revert: string) => string
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** A `read` client. */
  readonly client: ChainClient
  readonly reader: Pick<TransferReader, 'nonceUsed'>
  /** Carries a transfer out anew whose transaction a stranger's displaced for good. */
  readonly carryOutAgain: (actionHash: Hex) => void
}

const NOT_SAID = 'no node has confirmed that it has the transaction'
const ELSEWHERE =
  'carried out by a transaction that is not known here: look for the nonce of the action on chain'

/**
 * Brings a record to what the journal and the chain say of its transaction; leaves one alone for which nothing was
 * signed. What was confirmed or reverted goes back to submitted when the chain forgot it. Rejects with
 * ChainUnreachable.
 */
export async function follow(deps: FollowDeps, actionHash: Hex): Promise<void> {
  const record = deps.records.find(actionHash)
  if (record === undefined) return
  const state = deps.transactions.stateOf(intentOf(deps.kind, actionHash))
  if (state?.kind === 'open') followOpen(deps, record, state.transaction)
  if (state?.kind === 'mined') await followMined(deps, record, state.transaction)
  if (state?.kind === 'displaced') await followDisplaced(deps, record)
}

/** The same for callers to whom the record as it stands is good enough while the chain does not answer. */
export async function followIfAnswering(deps: FollowDeps, actionHash: Hex): Promise<void> {
  try {
    await follow(deps, actionHash)
  } catch (error) {
    if (!(error instanceof ChainUnreachable)) throw error
  }
}

function followOpen(deps: FollowDeps, record: TransferRecord, { attempts }: OpenTransaction): void {
  const { kind, records, transactions, nowMs } = deps
  const taken = transactions.wasTaken(intentOf(kind, record.actionHash))
  const known = record.status === 'pending' || record.status === 'unknown'
  const status = known && !taken ? record.status : 'submitted'
  const error = status === 'unknown' ? NOT_SAID : undefined
  const txHash = attempts.at(-1)?.hash
  const change: RecordChange = { ...NOT_MINED, status, error, txHash }
  records.change(record.actionHash, change, { submittedAtMs: nowMs() })
}

const NOT_MINED = {
  ...{ subaccountId: undefined, credited: undefined },
  ...{ blockNumber: undefined, revert: undefined },
} as const

/** No node has said that it has the transaction: until one does, nobody knows whether it was submitted. */
export function markUnclear({ kind, records, transactions }: FollowDeps, actionHash: Hex): void {
  const record = records.find(actionHash)
  if (record?.status !== 'pending' || transactions.wasTaken(intentOf(kind, actionHash))) return
  records.change(actionHash, { status: 'unknown', error: NOT_SAID })
}

async function followMined(
  deps: FollowDeps,
  record: TransferRecord,
  mined: MinedTransaction,
): Promise<void> {
  const { records, revertName, nowMs } = deps
  const { actionHash, subaccountIdRequested } = record
  if (isSettled(record) && records.blockHashOf(actionHash) === mined.blockHash) return
  crash('transfer.after_receipt_before_mark')
  const receipt = await accountFor(deps, mined.hash, record.asset)
  // The chain has lost the block meanwhile; the journal will say so.
  if (receipt?.blockHash !== mined.blockHash) return
  const place = { txHash: mined.hash, blockNumber: mined.blockNumber, error: undefined }
  const details = { blockHash: mined.blockHash, submittedAtMs: nowMs() }
  if (mined.status === 'success') {
    const opened = receipt.openedAccountId
    const subaccountId = subaccountIdRequested === 0n ? opened : subaccountIdRequested
    const { credited } = receipt
    const change = { ...place, status: 'confirmed', subaccountId, credited } as const
    records.change(actionHash, { ...change, revert: undefined }, details)
  } else {
    const revert = revertName(record.asset, mined.revert ?? 'unknown')
    const change = { ...NOT_MINED, ...place, status: 'reverted', revert } as const
    records.change(actionHash, change, details)
  }
  crash('transfer.after_mark_before_answer')
}

/** Books what a mined transaction cost, by its receipt; undefined while the chain has none. */
export async function accountFor(
  { client, matching, gas }: Pick<FollowDeps, 'client' | 'matching' | 'gas'>,
  hash: Hex,
  asset?: Address,
): Promise<TransferReceipt | undefined> {
  const sources = { matching, ...(asset !== undefined && { asset }) }
  const receipt = await readTransferReceipt(client, sources, hash)
  if (receipt !== undefined) gas.paid(hash, receipt.costWei)
  return receipt
}

/** The nonce of the action says whether somebody carried it out after all. */
async function followDisplaced(deps: FollowDeps, record: TransferRecord): Promise<void> {
  const { module, records, reader, carryOutAgain } = deps
  const { actionHash, owner, nonce, status } = record
  if (status === 'rejected') return
  if (await reader.nonceUsed(module, owner, nonce)) {
    const change = { ...NOT_MINED, txHash: undefined, status: 'unknown', error: ELSEWHERE } as const
    records.change(actionHash, change)
    return
  }
  const change = { ...NOT_MINED, txHash: undefined, status: 'pending', error: undefined } as const
  records.change(actionHash, change)
  carryOutAgain(actionHash)
}
