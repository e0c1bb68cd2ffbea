import type { Database } from 'better-sqlite3'
import { transferText } from '../bus-schemas/transfers.js'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { crash } from '../core/crash-point.js'
import { exactNumber } from '../core/decimal.js'
import type { TransferRecord } from '../core/transfer.js'
import { blobOf, hexOf } from './row-values.js'

/** Schema of deposits.db and withdrawals.db. */
export const TRANSFER_MIGRATIONS = new URL('../../data/migrations/transfers/', import.meta.url)

/** A transfer with the fields that only its submitter stores. */
export interface StoredTransfer {
  readonly record: TransferRecord
  /** The request's body, whose signature is valid. */
  readonly request: string
  readonly blockHash?: Hex
}

/** Columns that a step changes besides the record. */
export interface StepDetails {
  /** Unix milliseconds of the first signature for the transfer; later values are ignored. */
  readonly submittedAtMs?: number
  readonly blockHash?: Hex
}

export interface TransferStep {
  readonly no: number
  readonly record: TransferRecord
}

/**
 * The records of one submitter, their only writer; durable before a method returns. Every method throws what SQLite
 * throws.
 */
export interface TransferStore {
  find(actionHash: Hex): StoredTransfer | undefined
  /** Whether the action has no record or a rejected one, and its owner no other transfer in progress. */
  mayClaim(record: TransferRecord): boolean
  /**
   * Adds the record of a claim, or replaces a rejected one of the action. It takes its owner's place only when that is free.
   * `submittedAtMs` as of a step.
   */
  add(record: TransferRecord, request: string, submittedAtMs?: number): void
  /** Writes the record, and enqueues the step when the record changed. The action must be claimed. */
  update(record: TransferRecord, details?: StepDetails): void
  /** Up to where in the journal the records follow from it; zeros for a new file. */
  journalPlace(): JournalPlace
  /** Makes changes in one transaction, after which the records follow from the journal up to that place. */
  followJournal(place: JournalPlace, changes: () => void): void
  /** Whether a transfer of the owner other than this one is in progress. */
  othersInProgress(owner: Address, except: Hex): boolean
  /** Submission times, later than a given one, of the owner's other transfers; ascending. */
  submittedAfter(owner: Address, afterMs: number, except: Hex): number[]
  /** All records that are pending, submitted or unknown. */
  unsettled(): StoredTransfer[]
  /** Steps whose publication is not confirmed, oldest first. */
  outbox(limit: number): TransferStep[]
  markPublished(no: number): void
}

export interface JournalPlace {
  /** Of the journal's writer. */
  readonly term: number
  /** The newest entry about a claim. */
  readonly claimNo: number
}

interface StoredTransferRow {
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
    ...prepareAdd(db, enqueue),
    update: prepareUpdate(db, enqueue),
    ...prepareFollow(db),
    markPublished: (no) => void drop.run(no),
  }
}

type Enqueue = { run(actionHash: Buffer, record: string): unknown }

const { write: textOf, read: recordOf } = transferText

function stored(row: StoredTransferRow): StoredTransfer {
  const { record, request, block_hash } = row
  return {
    record: recordOf(record),
    request,
    ...(block_hash !== null && { blockHash: hexOf(block_hash) }),
  }
}

type Reads = Pick<
  TransferStore,
  'find' | 'othersInProgress' | 'submittedAfter' | 'unsettled' | 'outbox'
>

function prepareReads(db: Database): Reads {
  const columns = 'SELECT record, request, block_hash FROM transfers'
  const byHash = db.prepare<[Buffer], StoredTransferRow>(`${columns} WHERE action_hash = ?`)
  const unsettled = db.prepare<[], StoredTransferRow>(
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

function prepareAdd(db: Database, enqueue: Enqueue): Pick<TransferStore, 'mayClaim' | 'add'> {
  const busy = db.prepare<[Buffer, Buffer]>(
    'SELECT 1 FROM transfers WHERE owner = ? AND in_progress = 1 AND action_hash <> ?',
  )
  const standing = db.prepare<[Buffer]>(
    `SELECT 1 FROM transfers WHERE action_hash = ? AND status <> 'rejected'`,
  )
  const write = db.prepare<[Record<string, Buffer | string | number | null>]>(
    `INSERT INTO transfers (action_hash, owner, status, in_progress, record, request, submitted_at_ms)
     VALUES (@hash, @owner, @status,
       @status IN ('pending', 'submitted')
         AND NOT EXISTS (SELECT 1 FROM transfers WHERE owner = @owner AND in_progress = 1),
       @record, @request, @submittedAtMs)
     ON CONFLICT (action_hash) DO UPDATE SET status = excluded.status,
       in_progress = excluded.in_progress, record = excluded.record, request = excluded.request,
       submitted_at_ms = coalesce(submitted_at_ms, excluded.submitted_at_ms), block_hash = NULL
     WHERE status = 'rejected'`,
  )
  const add = db.transaction(
    (record: TransferRecord, request: string, submittedAtMs: number | null) => {
      const { actionHash, status } = record
      const hash = blobOf(actionHash)
      const owner = blobOf(record.owner)
      const text = textOf(record)
      const row = { hash, owner, status, record: text, request, submittedAtMs }
      assert(write.run(row).changes === 1, `${actionHash} has a record`)
      enqueue.run(hash, text)
    },
  )
  return {
    mayClaim({ actionHash, owner }) {
      const hash = blobOf(actionHash)
      return standing.get(hash) === undefined && busy.get(blobOf(owner), hash) === undefined
    },
    add: (record, request, submittedAtMs) =>
      void add.immediate(record, request, submittedAtMs ?? null),
  }
}

function prepareFollow(db: Database): Pick<TransferStore, 'journalPlace' | 'followJournal'> {
  const read = db.prepare<[], { term: bigint; claim_no: bigint }>(
    'SELECT term, claim_no FROM journal_term',
  )
  const write = db.prepare<[number, number]>('UPDATE journal_term SET term = ?, claim_no = ?')
  const follow = db.transaction(({ term, claimNo }: JournalPlace, changes: () => void) => {
    changes()
    write.run(term, claimNo)
  })
  return {
    journalPlace() {
      const { term, claim_no } = read.get() ?? { term: 0n, claim_no: 0n }
      return { term: exactNumber(term), claimNo: exactNumber(claim_no) }
    },
    followJournal: (place, changes) => void follow.immediate(place, changes),
  }
}

function prepareUpdate(db: Database, enqueue: Enqueue): TransferStore['update'] {
  const before = db.prepare<[Buffer], { record: string }>(
    'SELECT record FROM transfers WHERE action_hash = ?',
  )
  // A transfer that a reorganisation brought back gets its owner's place only if no other has taken it meanwhile.
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
    const text = textOf(record)
    const old = before.get(hash)
    assert(old !== undefined, `${record.actionHash} was never claimed`)
    const { submittedAtMs = null, blockHash } = details
    const block = blockHash === undefined ? null : blobOf(blockHash)
    write.run(record.status, text, record.status, submittedAtMs, block, hash)
    if (record.status === 'confirmed') crash('transfer.in_mark')
    if (text !== old.record) enqueue.run(hash, text)
  })
  return (record, details = {}) => update.immediate(record, details)
}

/** Bound of the stored requests of each kind; further requests are not counted until older ones are deleted. */
export const MAX_COUNTED_REQUESTS = 50_000
const MINUTE_MS = 60_000

/** Requests of the last minute by the party they count against; survives restarts. */
export interface RequestCounts {
  /** Unix milliseconds of each, ascending. */
  within(countedBy: string, nowMs: number): number[]
  count(countedBy: string, nowMs: number): void
}

/**
 * Uses an open transfer database. Owners (with a valid signature) and network addresses are counted separately, so that
 * a flood of one kind does not evict the other.
 */
export function createRequestCounts(db: Database, whose: 'owner' | 'client'): RequestCounts {
  const within = db
    .prepare<[string, string, number], bigint>(
      `SELECT at_ms FROM requests
       WHERE whose = ? AND counted_by = ? AND at_ms > ? ORDER BY at_ms`,
    )
    .pluck()
  const prune = db.prepare<[number]>('DELETE FROM requests WHERE at_ms <= ?')
  const add = db.prepare<[string, string, number, string, number]>(
    `INSERT INTO requests (whose, counted_by, at_ms) SELECT ?, ?, ?
     WHERE (SELECT count(*) FROM requests WHERE whose = ?) < ?`,
  )
  const count = db.transaction((countedBy: string, nowMs: number) => {
    prune.run(nowMs - MINUTE_MS)
    add.run(whose, countedBy, nowMs, whose, MAX_COUNTED_REQUESTS)
  })
  return {
    within: (countedBy, nowMs) => within.all(whose, countedBy, nowMs - MINUTE_MS).map(exactNumber),
    count: (countedBy, nowMs) => void count.immediate(countedBy, nowMs),
  }
}
