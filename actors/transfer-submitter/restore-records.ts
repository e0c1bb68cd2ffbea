import type { Hex } from '../../core/action.js'
import { UNKNOWN_REVERT } from '../../core/revert.js'
import type { Decline, JournaledClaim, RecordedIntent } from '../../core/transaction-journal.js'
import { intentOf, type TransferRecord } from '../../core/transfer.js'
import type { PublishedJournal } from '../../data/journal/published-journal.js'
import type { TransferStore } from '../../data/transfer-store.js'
import type { SignedTransfer, TransferRules } from './rules.js'

export interface RestoreDeps<Transfer extends SignedTransfer> {
  readonly rules: Pick<TransferRules<Transfer>, 'kind' | 'revertName'>
  readonly published: Pick<PublishedJournal, 'journal' | 'claims' | 'term'>
  readonly store: TransferStore
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/**
 * Brings the records to what the journal holds: makes those of claims that they lack, and rejects what the journal has
 * declined. Where another process has led since the file was written, every claim is compared. Returns the actions whose
 * records are to be read from the chain again. One transaction, so that a crash leaves all of it to the next start.
 */
export function restoreRecords<Transfer extends SignedTransfer>(
  deps: RestoreDeps<Transfer>,
): readonly Hex[] {
  const { store, published } = deps
  const { term, claims } = published
  const before = store.journalPlace()
  // Its own last start had the term before this one.
  const isOwn = before.term === term - 1
  const changed: Hex[] = []
  store.followJournal({ term, claimNo: claims.newestClaimNo() }, () => {
    for (const claim of claims.claimsAfter(isOwn ? before.claimNo : 0)) {
      if (restoreOne(deps, claim)) changed.push(claim.record.actionHash)
    }
  })
  return changed
}

/** Whether the record differs, or may differ, from the chain. */
function restoreOne<Transfer extends SignedTransfer>(
  deps: RestoreDeps<Transfer>,
  claim: JournaledClaim,
): boolean {
  const { rules, published, store, nowMs } = deps
  const { record, request, declined } = claim
  const known = store.find(record.actionHash)
  const isKnown = known !== undefined && known.record.status !== 'rejected'
  if (declined !== undefined) {
    const rejected = withDecline(isKnown ? known.record : record, declined, nowMs())
    if (isKnown) store.update(rejected)
    else if (known === undefined) store.add(rejected, request)
    return false
  }
  const intentId = intentOf(rules.kind, record.actionHash)
  const state = published.journal.find(intentId)?.state
  if (isKnown) return state?.kind === 'mined' && known.blockHash !== state.transaction.blockHash
  const made = { ...record, ...statusOf(deps, record, state), updatedAtMs: nowMs() }
  store.add(made, request, published.journal.signedAtMs(intentId))
  return state !== undefined
}

function withDecline(
  record: TransferRecord,
  { error, revert }: Decline,
  nowMs: number,
): TransferRecord {
  const updatedAtMs = Math.max(nowMs, record.updatedAtMs)
  const rejected = { ...record, status: 'rejected', error, updatedAtMs } as const
  return revert === undefined ? rejected : { ...rejected, revert }
}

/** What the journal alone knows; the account that a deposit opened and what it was credited are in the receipt. */
function statusOf<Transfer extends SignedTransfer>(
  { rules }: RestoreDeps<Transfer>,
  { asset, subaccountIdRequested: subaccountId }: TransferRecord,
  state: RecordedIntent['state'] | undefined,
): Pick<TransferRecord, 'status' | 'txHash' | 'blockNumber' | 'subaccountId' | 'revert'> {
  // Followed like any other before requests are answered: broadcast again, or carried out.
  if (state?.kind !== 'mined') return { status: 'pending' }
  const { hash: txHash, blockNumber, status, revert = UNKNOWN_REVERT } = state.transaction
  if (status === 'reverted')
    return { status, txHash, blockNumber, revert: rules.revertName(asset, revert) }
  return { status: 'confirmed', txHash, blockNumber, ...(subaccountId !== 0n && { subaccountId }) }
}
