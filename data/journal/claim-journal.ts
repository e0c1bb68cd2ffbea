import type { Database } from 'better-sqlite3'
import { transferText } from '../../bus-schemas/transfers.js'
import { assert } from '../../core/assert.js'
import { exactNumber } from '../../core/decimal.js'
import type {
  ClaimJournal,
  JournalEntry,
  JournaledClaim,
  EntrySink,
} from '../../core/transaction-journal.js'
import { blobOf } from '../row-values.js'

/** The claims of the journal whose rows are in the database and whose entries go to `sink`. */
export function createClaimJournal(
  db: Database,
  { record }: Pick<EntrySink, 'record'>,
  nowMs: () => number = Date.now,
): ClaimJournal {
  const after = db.prepare<[number], ClaimRow>('SELECT * FROM claims WHERE no > ? ORDER BY no')
  const newest = db.prepare<[], bigint | null>('SELECT max(no) FROM claims').pluck()
  return {
    recordClaim: (claimed, request) => void record({ kind: 'claimed', record: claimed, request }),
    recordDecline: (actionHash, { error, revert }) =>
      void record({
        kind: 'declined',
        actionHash,
        error,
        atMs: nowMs(),
        ...(revert !== undefined && { revert }),
      }),
    *claimsAfter(no) {
      for (const row of after.iterate(no)) yield claimOf(row)
    },
    newestClaimNo: () => exactNumber(newest.get() ?? 0n),
  }
}

interface ClaimRow {
  readonly no: bigint
  readonly record: string
  readonly request: string
  readonly declined: string | null
  readonly declined_revert: string | null
}

function claimOf({ no, record, request, declined, declined_revert }: ClaimRow): JournaledClaim {
  const revert = declined_revert ?? undefined
  return {
    no: exactNumber(no),
    record: transferText.read(record),
    request,
    ...(declined !== null && { declined: { error: declined, revert } }),
  }
}

type OfClaim = Extract<JournalEntry, { readonly kind: 'claimed' | 'declined' }>

/** The fold of entries about claims; must run inside a transaction. */
export function prepareClaims(db: Database): (entry: OfClaim) => void {
  const NEXT = '(SELECT coalesce(max(no), 0) + 1 FROM claims)'
  const claim = db.prepare<[Buffer, string, string]>(
    `INSERT INTO claims (action_hash, no, record, request) VALUES (?, ${NEXT}, ?, ?)
     ON CONFLICT (action_hash) DO UPDATE SET no = excluded.no, record = excluded.record,
       request = excluded.request, declined = NULL, declined_revert = NULL, declined_at_ms = NULL
     WHERE declined IS NOT NULL`,
  )
  const decline = db.prepare<[string, string | null, number, Buffer]>(
    `UPDATE claims SET no = ${NEXT}, declined = ?, declined_revert = ?, declined_at_ms = ?
     WHERE action_hash = ? AND declined IS NULL`,
  )
  return (entry) => {
    if (entry.kind === 'claimed') {
      const { record, request } = entry
      assert(record.status === 'pending', 'a claim begins as pending')
      const { changes } = claim.run(blobOf(record.actionHash), transferText.write(record), request)
      assert(changes === 1, `${record.actionHash} is claimed already`)
    } else {
      const { actionHash, error, revert = null, atMs } = entry
      const { changes } = decline.run(error, revert, atMs, blobOf(actionHash))
      assert(changes === 1, `${actionHash} is not claimed`)
    }
  }
}
