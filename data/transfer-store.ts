import type { Database } from 'better-sqlite3'
import { transferFromWire, transferToWire } from '../bus-schemas/transfer-wire.js'
import type { TransferWire } from '../bus-schemas/transfer-wire.js'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { crash } from '../core/crash-point.js'
import { exactNumber } from '../core/decimal.js'
import type { TransferRecord } from '../core/transfer.js'
import { blobOf, hexOf } from './bytes.js'

/** Schema of deposits.db and withdrawals.db. */
export const TRANSFER_MIGRATIONS = new URL('../../data/migrations/transfers/', import.meta.url)

/** A transfer and what only its submitter keeps of it. */
export interface StoredTransfer {
  readonly record: TransferRecord
  /** The request's body, whose signature held. */
  readonly request: string
  readonly blockHash?: Hex
}

/** What a step changes beside the record. */
export interface StepDetails {
  /** Unix milliseconds at which something was first signed for the transfer; the first one told stands. */
  readonly submittedAtMs?: number
  readonly blockHash?: Hex
}

export interface TransferStep {
  readonly no: number
  readonly record: TransferRecord
}

/** The records of one submitter, its only writer; on disk before a method returns. Every method throws what SQLite throws. */
export interface TransferStore {
  find(actionHash: Hex): StoredTransfer | undefined
  /**
   * Takes the action and its owner's one place, for a record that is new or was rejected; false when the action has
   * another record or the owner another transfer in progress.
   */
  claim(record: TransferRecord, request: string): boolean
  /** Writes the record as it is now, and enqueues that step unless nothing changed. The action must be claimed. */
  update(record: TransferRecord, details?: StepDetails): void
  /** Whether a transfer of the owner other than this one is in progress. */
  othersInProgress(owner: Address, except: Hex): boolean
  /** When transfers of the owner other than this one were submitted, after a moment; ascending. */
  submittedAfter(owner: Address, afterMs: number, except: Hex): number[]
  /** All that is pending, submitted or unknown. */
  unsettled(): StoredTransfer[]
  /** Steps not known to be published, oldest first. */
  outbox(limit: number): TransferStep[]
  markPublished(no: number): void
}

interface Row {
  readonly record: string
  readonly request: string
  readonly block_hash: Buffer | null
}

/** In a database that data/open.ts opened with synchronous FULL. */
export function createTransferStore(db: Database): TransferStore {
  const reads = prepareReads(db)
  const enqueue = db.prepare<[Buffer, string]>(
    'INSERT INTO outbox (action_hash, record) VALUES (?, ?)',
  )
  const drop = db.prepare<[number]>('DELETE FROM outbox WHERE no <= ?')
  return {
    ...reads,
    claim: prepareClaim(db, enqueue),
    update: prepareUpdate(db, enqueue),
    markPublished: (no) => void drop.run(no),
  }
}

type Enqueue = { run(actionHash: Buffer, record: string): unknown }

const textOf = (record: TransferRecord): string => JSON.stringify(transferToWire(record))
const recordOf = (text: string): TransferRecord =>
  transferFromWire(JSON.parse(text) as TransferWire)

function stored(row: Row): StoredTransfer {
  const { record, request, block_hash } = row
  return {
    ...{ record: recordOf(record), request },
    ...(block_hash !== null && { blockHash: hexOf(block_hash) }),
  }
}

type Reads = Pick<
  TransferStore,
  'find' | 'othersInProgress' | 'submittedAfter' | 'unsettled' | 'outbox'
>

function prepareReads(db: Database): Reads {
  const columns = 'SELECT record, request, block_hash FROM transfers'
  const byHash = db.prepare<[Buffer], Row>(`${columns} WHERE action_hash = ?`)
  const unsettled = db.prepare<[], Row>(
    `${columns} WHERE status IN ('pending', 'submitted', 'unknown')`,
  )
  const others = db.prepare<[Buffer, Buffer]>(
    'SELECT 1 FROM transfers WHERE owner = ? AND in_progress = 1 AND action_hash <> ?',
  )
  const submitted = db
    .prepare<[Buffer, number, Buffer], bigint>(
      `SELECT submitted_at_ms FROM transfers
       WHERE owner = ? AND submitted_at_ms > ? AND action_hash <> ? ORDER BY submitted_at_ms`,
    )
    .pluck()
  const outbox = db.prepare<[number], { no: bigint; record: string }>(
    'SELECT no, record FROM outbox ORDER BY no LIMIT ?',
  )
  return {
    find(actionHash) {
      const row = byHash.get(blobOf(actionHash))
      return row === undefined ? undefined : stored(row)
    },
    othersInProgress: (owner, except) => others.get(blobOf(owner), blobOf(except)) !== undefined,
    submittedAfter: (owner, afterMs, except) =>
      submitted.all(blobOf(owner), afterMs, blobOf(except)).map(exactNumber),
    unsettled: () => unsettled.all().map(stored),
    outbox: (limit) =>
      outbox
        .all(limit)
        .map(({ no, record }) => ({ no: exactNumber(no), record: recordOf(record) })),
  }
}

function prepareClaim(db: Database, enqueue: Enqueue): TransferStore['claim'] {
  // Neither the action's own row nor the owner's place may be taken; a rejected action gives its row up.
  const take = db.prepare<[Buffer, Buffer, string, string]>(
    `INSERT INTO transfers (action_hash, owner, status, in_progress, record, request)
     VALUES (?, ?, 'pending', 1, ?, ?)
     ON CONFLICT (action_hash) DO UPDATE SET status = excluded.status, in_progress = 1,
       record = excluded.record, request = excluded.request, block_hash = NULL
     WHERE status = 'rejected'`,
  )
  const busy = db.prepare<[Buffer, Buffer]>(
    'SELECT 1 FROM transfers WHERE owner = ? AND in_progress = 1 AND action_hash <> ?',
  )
  const claim = db.transaction((record: TransferRecord, request: string): boolean => {
    assert(record.status === 'pending', 'a claim begins as pending')
    const [hash, owner] = [blobOf(record.actionHash), blobOf(record.owner)] as const
    if (busy.get(owner, hash) !== undefined) return false
    const text = textOf(record)
    if (take.run(hash, owner, text, request).changes === 0) return false
    enqueue.run(hash, text)
    return true
  })
  return (record, request) => claim.immediate(record, request)
}

function prepareUpdate(db: Database, enqueue: Enqueue): TransferStore['update'] {
  const before = db.prepare<[Buffer], { record: string }>(
    'SELECT record FROM transfers WHERE action_hash = ?',
  )
  // A transfer that the chain brought back has its owner's place only if no other took it meanwhile.
  const write = db.prepare<[string, string, string, number | null, Buffer | null, Buffer]>(
    `UPDATE transfers SET status = ?, record = ?,
       in_progress = ? IN ('pending', 'submitted') AND NOT EXISTS (
         SELECT 1 FROM transfers other WHERE other.owner = transfers.owner
           AND other.in_progress = 1 AND other.action_hash <> transfers.action_hash),
       submitted_at_ms = coalesce(submitted_at_ms, ?), block_hash = ?
     WHERE action_hash = ?`,
  )
  const update = db.transaction((record: TransferRecord, details: StepDetails) => {
    const hash = blobOf(record.actionHash)
    const [text, old] = [textOf(record), before.get(hash)]
    assert(old !== undefined, `${record.actionHash} was never claimed`)
    const { submittedAtMs = null, blockHash } = details
    const block = blockHash === undefined ? null : blobOf(blockHash)
    write.run(record.status, text, record.status, submittedAtMs, block, hash)
    if (record.status === 'confirmed') crash('transfer.in_mark')
    if (text !== old.record) enqueue.run(hash, text)
  })
  return (record, details = {}) => update.immediate(record, details)
}
