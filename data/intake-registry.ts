import type { Database } from 'better-sqlite3'
import { encodeCommands } from '../bus-schemas/command-message.js'
import type { Address } from '../core/action.js'
import { assert } from '../core/assert.js'
import type { Command, LoggedCommand } from '../core/command.js'
import { crash } from '../core/crash-point.js'
import { openDatabase } from './open.js'

/** The writer's name in the command log. */
export const INTAKE_SOURCE = 'intake'

/** What an order takes for ever (decision B9). */
export interface Claim {
  readonly orderId: string
  readonly owner: Address
  readonly nonce: bigint
  /** Digest of the signed action. */
  readonly fingerprint: Uint8Array
}

export interface TakenOrder {
  readonly orderId: string
  readonly market: string
  readonly fingerprint: Uint8Array
}

/** One command on its way into the log; an order brings its claim. */
export interface LogEntry {
  readonly command: Command
  readonly claim?: Claim
  /** Who waits for the answer; nobody for what the intake says by itself. */
  readonly replyTo?: string
  readonly requestId?: string
}

/** A message of the command log, durable here before it is published. */
export interface OutboxMessage {
  readonly market: string
  /** Number of its last command. */
  readonly lastNo: number
  readonly payload: Uint8Array
}

/** What became of an entry: it is in the message, or an earlier order holds what it claims. */
export type EntryOutcome =
  | { readonly kind: 'logged' }
  | { readonly kind: 'taken'; readonly by: 'order_id' | 'nonce'; readonly holder: TakenOrder }

export interface PublishedPosition {
  readonly streamSeq: number
  readonly lastNo: number
}

/** order-intake's only memory; it is the sole writer of the file. Every method throws what SQLite throws. */
export interface IntakeRegistry {
  findOrder(orderId: string): TakenOrder | undefined
  findNonce(owner: Address, nonce: bigint): TakenOrder | undefined
  /**
   * In one durable transaction: takes the claims in order, numbers the commands of the entries that got theirs, and
   * stores them as one message of the outbox. The message is absent when no entry is left.
   */
  commit(
    market: string,
    entries: readonly LogEntry[],
    atMs: number,
  ): { readonly outcomes: readonly EntryOutcome[]; readonly message?: OutboxMessage }
  /** Messages not yet known to be in the stream, oldest first. */
  outbox(market: string): OutboxMessage[]
  /** Number of the last command ever stored, 0 before the first. */
  lastNo(): number
  /** How far the market's stream is known, zeros before the first message. */
  published(market: string): PublishedPosition
  /**
   * The stream holds our commands up to `lastNo` and has been read up to `streamSeq`. On disk with the next commit: what
   * a power cut takes of it, the stream tells again.
   */
  markPublished(market: string, position: PublishedPosition): void
  /** From where the market's feed tells of every live order, 1 before it was ever noted. */
  watchedFrom(market: string): number
  markWatchedFrom(market: string, streamSeq: number): void
  close(): void
}

/**
 * Opens `intake.db` at a path, creating it when absent; what `commit` stores is on disk before it returns. The file is held
 * alone until it is closed: two writers would number commands in one order and publish them in another. Throws
 * SqliteError with code SQLITE_BUSY when another process does not let go of it within a few seconds.
 */
export function openIntakeRegistry(path: string): IntakeRegistry {
  const migrations = new URL('../../data/migrations/intake/', import.meta.url)
  const db = openDatabase({ path, migrations, synchronous: 'FULL' })
  db.pragma('locking_mode = EXCLUSIVE')
  // The lock is taken by the first write that follows.
  db.exec('BEGIN IMMEDIATE; COMMIT')
  const reads = prepareReads(db)
  const commit = prepareCommit(db, reads)
  const markPublished = prepareMark(db)
  return {
    ...reads,
    ...prepareWatch(db),
    commit: (market, entries, atMs) => commit.immediate({ market, entries, atMs }),
    markPublished: (market, position) => {
      db.pragma('synchronous = NORMAL')
      try {
        markPublished.immediate(market, position)
      } finally {
        db.pragma('synchronous = FULL')
      }
    },
    close: () => void db.close(),
  }
}

type Reads = Pick<IntakeRegistry, 'findOrder' | 'findNonce' | 'outbox' | 'lastNo' | 'published'>

function prepareReads(db: Database): Reads {
  const byId = db.prepare<[string], TakenRow>(
    'SELECT order_id, market, fingerprint FROM taken_order WHERE order_id = ?',
  )
  const byNonce = db.prepare<[string, string], TakenRow>(
    'SELECT order_id, market, fingerprint FROM taken_order WHERE owner = ? AND nonce = ?',
  )
  const lastNo = db.prepare<[], number>('SELECT last_no FROM command_count').pluck()
  const outbox = db.prepare<[string], OutboxMessage>(
    'SELECT market, last_no AS lastNo, payload FROM outbox WHERE market = ? ORDER BY last_no',
  )
  const published = db.prepare<[string], PublishedPosition>(
    'SELECT stream_seq AS streamSeq, last_no AS lastNo FROM published WHERE market = ?',
  )
  for (const statement of [lastNo, outbox, published]) statement.safeIntegers(false)
  return {
    findOrder: (orderId) => takenOrder(byId.get(orderId)),
    findNonce: (owner, nonce) => takenOrder(byNonce.get(owner, nonce.toString())),
    outbox: (market) => outbox.all(market),
    lastNo: () => lastNo.get() ?? 0,
    published: (market) => published.get(market) ?? { streamSeq: 0, lastNo: 0 },
  }
}

interface TakenRow {
  readonly order_id: string
  readonly market: string
  readonly fingerprint: Uint8Array
}

function takenOrder(row: TakenRow | undefined): TakenOrder | undefined {
  if (row === undefined) return undefined
  return { orderId: row.order_id, market: row.market, fingerprint: row.fingerprint }
}

interface CommitInput {
  readonly market: string
  readonly entries: readonly LogEntry[]
  readonly atMs: number
}

function prepareCommit(db: Database, reads: Reads) {
  const take = db.prepare(
    `INSERT INTO taken_order (order_id, owner, nonce, market, fingerprint)
     VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const count = db.prepare('UPDATE command_count SET last_no = ?')
  const enqueue = db.prepare('INSERT INTO outbox (last_no, market, payload) VALUES (?, ?, ?)')

  const claim = (market: string, wanted: Claim): EntryOutcome => {
    const { orderId, owner, nonce, fingerprint } = wanted
    const taken = take.run(orderId, owner, nonce.toString(), market, fingerprint)
    if (taken.changes === 1) return { kind: 'logged' }
    const sameId = reads.findOrder(orderId)
    if (sameId !== undefined) return { kind: 'taken', by: 'order_id', holder: sameId }
    const sameNonce = reads.findNonce(owner, nonce)
    assert(sameNonce !== undefined, 'a claim conflicts with nothing')
    return { kind: 'taken', by: 'nonce', holder: sameNonce }
  }

  return db.transaction(({ market, entries, atMs }: CommitInput) => {
    const outcomes = entries.map((entry): EntryOutcome => {
      return entry.claim === undefined ? { kind: 'logged' } : claim(market, entry.claim)
    })
    const commands: LoggedCommand[] = []
    let lastNo = reads.lastNo()
    for (const [index, { command, replyTo, requestId }] of entries.entries()) {
      if (outcomes[index]?.kind !== 'logged') continue
      lastNo += 1
      const asker = {
        ...(replyTo !== undefined && { replyTo }),
        ...(requestId !== undefined && { requestId }),
      }
      commands.push({ source: INTAKE_SOURCE, sourceNo: lastNo, atMs, ...asker, command })
    }
    if (commands.length === 0) return { outcomes }
    const message = { market, lastNo, payload: encodeCommands(commands) }
    count.run(lastNo)
    crash('intake.in_commit')
    enqueue.run(lastNo, market, message.payload)
    return { outcomes, message }
  })
}

function prepareMark(db: Database) {
  const clear = db.prepare('DELETE FROM outbox WHERE market = ? AND last_no <= ?')
  const advance = db.prepare(
    `INSERT INTO published (market, stream_seq, last_no) VALUES (?, ?, ?)
     ON CONFLICT (market) DO UPDATE SET stream_seq = excluded.stream_seq, last_no = excluded.last_no`,
  )
  return db.transaction((market: string, { streamSeq, lastNo }: PublishedPosition) => {
    clear.run(market, lastNo)
    advance.run(market, streamSeq, lastNo)
  })
}

function prepareWatch(db: Database): Pick<IntakeRegistry, 'watchedFrom' | 'markWatchedFrom'> {
  const read = db
    .prepare<[string], number>('SELECT stream_seq FROM watched_from WHERE market = ?')
    .pluck()
  read.safeIntegers(false)
  const write = db.prepare(
    `INSERT INTO watched_from (market, stream_seq) VALUES (?, ?)
     ON CONFLICT (market) DO UPDATE SET stream_seq = excluded.stream_seq`,
  )
  return {
    watchedFrom: (market) => read.get(market) ?? 1,
    markWatchedFrom: (market, streamSeq) => void write.run(market, streamSeq),
  }
}
