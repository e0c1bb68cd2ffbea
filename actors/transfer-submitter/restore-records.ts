import { decodeTransfer } from '../../chain/contracts/calldata.js'
import { requestOf } from '../../chain/signing/keys.js'
import type { Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { exactNumber } from '../../core/decimal.js'
import { actionJson } from '../../core/entry/signed-action.js'
import { readTransferBody } from '../../core/entry/validate-transfer.js'
import { UNKNOWN_REVERT } from '../../core/revert.js'
import type { RecordedIntent, SignedIntent } from '../../core/transaction-journal.js'
import type { TransferRecord } from '../../core/transfer.js'
import type { PublishedJournal } from '../../data/journal/published-journal.js'
import type { TransferStore } from '../../data/transfer-store.js'
import type { SignedTransfer, TransferRules } from './rules.js'
import { actionHashOf, intentOf } from './transactions.js'

export interface RestoreDeps<Transfer extends SignedTransfer> {
  readonly rules: Pick<TransferRules<Transfer>, 'kind' | 'validate' | 'revertName'>
  readonly published: Pick<PublishedJournal, 'journal' | 'term'>
  readonly store: TransferStore
  /** The claims that the bus knows of, of submitters on any disk. */
  readonly readPending: () => Promise<readonly TransferRecord[]>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** A record cannot be made: what was signed is no transfer by the rules of today, of another deployment for example. */
  readonly onSkipped: (intentId: string, why: string) => void
}

/** What the client of a claim is told that another process could not know. */
const TAKEN_OVER = 'nothing was sent for it before another submitter took over: send it again'

/**
 * Brings the records to what the journal holds, where this file is new or another process has led since it was written:
 * makes the records that it lacks, and rejects the claims for which nothing was signed. Its own were unknown to the process
 * that led meanwhile, and those of another disk are known by their record alone. Resolves with the actions whose records
 * are to be read from the chain again. One transaction, so that a crash leaves all of it to the next start.
 */
export async function restoreRecords<Transfer extends SignedTransfer>(
  deps: RestoreDeps<Transfer>,
): Promise<readonly Hex[]> {
  const { published, store, readPending } = deps
  const { term } = published
  // Its own last start had the term before this one.
  if (store.journalTerm() === term - 1) {
    store.followJournal(term, () => undefined)
    return []
  }
  const pending = await readPending()
  const changed: Hex[] = []
  store.followJournal(term, () => {
    for (const signed of published.journal.signedIntents(`${deps.rules.kind}:`)) {
      if (restoreOne(deps, signed)) changed.push(hashIn(deps, signed))
    }
    rejectUnsigned(deps, pending)
  })
  return changed
}

const hashIn = <Transfer extends SignedTransfer>(
  { rules }: RestoreDeps<Transfer>,
  { intentId }: SignedIntent,
): Hex => {
  const actionHash = actionHashOf(rules.kind, intentId)
  assert(actionHash !== undefined, `${intentId} is no ${rules.kind}`)
  return actionHash
}

function rejectUnsigned<Transfer extends SignedTransfer>(
  { rules, published, store, nowMs }: RestoreDeps<Transfer>,
  pending: readonly TransferRecord[],
): void {
  const rejected = (record: TransferRecord): TransferRecord => {
    const updatedAtMs = Math.max(nowMs(), record.updatedAtMs)
    return { ...record, status: 'rejected', error: TAKEN_OVER, updatedAtMs }
  }
  for (const { record } of store.unsettled()) {
    const signed = published.journal.find(intentOf(rules.kind, record.actionHash))
    if (record.status === 'pending' && signed === undefined) store.update(rejected(record))
  }
  for (const record of pending)
    // A rejected record is never carried out, so its request is not needed.
    if (store.find(record.actionHash) === undefined) store.restore(rejected(record), '{}')
}

/** Whether the record differs, or may differ, from the chain. */
function restoreOne<Transfer extends SignedTransfer>(
  deps: RestoreDeps<Transfer>,
  signed: SignedIntent,
): boolean {
  const { published, store } = deps
  const actionHash = hashIn(deps, signed)
  const state = published.journal.find(signed.intentId)?.state
  assert(state !== undefined, `${signed.intentId} is signed and not in the journal`)
  const known = store.find(actionHash)
  if (known === undefined) {
    const made = recordOf(deps, signed, state)
    if (made !== undefined) store.restore(made.record, made.request, signed.signedAtMs)
    return made !== undefined
  }
  return state.kind === 'mined' && known.blockHash !== state.transaction.blockHash
}

/** The record and its request as the signed bytes have them; a deposit's permit is not among these, and is used already. */
function recordOf<Transfer extends SignedTransfer>(
  deps: RestoreDeps<Transfer>,
  signed: SignedIntent,
  state: RecordedIntent['state'],
): { readonly record: TransferRecord; readonly request: string } | undefined {
  const { rules, nowMs, onSkipped } = deps
  const { kind } = rules
  const { action, signature } = decodeTransfer(requestOf(signed.raw).data)
  const json = { action: actionJson(action), signature }
  const body = readTransferBody(kind, json)
  // It was signed before it expired.
  const justBefore = exactNumber(action.expiry) * 1_000 - 1
  const transfer = 'refusal' in body ? body : rules.validate(body, justBefore)
  if ('refusal' in transfer) {
    onSkipped(signed.intentId, transfer.refusal.message)
    return undefined
  }
  const { owner, nonce, subaccountId } = action
  const { asset, amount } = transfer
  const record = {
    ...{ kind, actionHash: hashIn(deps, signed), owner, nonce, asset, amount },
    subaccountIdRequested: subaccountId,
    ...{ createdAtMs: signed.signedAtMs, updatedAtMs: nowMs(), ...statusOf(deps, state, transfer) },
  }
  return { record, request: JSON.stringify(json) }
}

/** What the journal alone knows; the account that a deposit opened and what it was credited are in the receipt. */
function statusOf<Transfer extends SignedTransfer>(
  { rules }: RestoreDeps<Transfer>,
  state: RecordedIntent['state'],
  { action, asset }: Transfer,
): Pick<TransferRecord, 'status' | 'txHash' | 'blockNumber' | 'subaccountId' | 'revert'> {
  // Followed like any other before requests are answered: broadcast again, or carried out anew.
  if (state.kind !== 'mined') return { status: 'pending' }
  const { hash: txHash, blockNumber, status, revert = UNKNOWN_REVERT } = state.transaction
  if (status === 'reverted')
    return { status, txHash, blockNumber, revert: rules.revertName(asset, revert) }
  const { subaccountId } = action
  return { status: 'confirmed', txHash, blockNumber, ...(subaccountId !== 0n && { subaccountId }) }
}
