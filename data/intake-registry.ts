import type { Database } from 'better-sqlite3'
import { encodeCommands } from '../bus-schemas/command-message.js'
import type { Address } from '../core/action.js'
import { assert } from '../core/assert.js'
import type { Command, LoggedCommand } from '../core/command.js'
import { crash } from '../core/crash-point.js'
import { openDatabase } from './open.js'
import {
  type Claim,
  type ClaimTable,
  type ClaimTaken,
  type RecentClaims,
  type TakenOrder,
  createRecentClaims,
  decodeClaims,
  encodeClaims,
} from './recent-claims.js'

/** The writer's name in the command log. */
export const INTAKE_SOURCE = 'intake'

export type { Claim, TakenOrder } from './recent-claims.js'

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
export type EntryOutcome = { readonly kind: 'logged' } | ClaimTaken

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
   * The stream holds our commands up to `lastNo` and has been read up to `streamSeq`. On disk some messages later: what
   * is lost of it with the process, the stream tells again.
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
  const table = prepareTable(db)
  const recent = createRecentClaims(table)
  const state = readState(db, recent)
  const commit = prepareCommit(db, state)
  const settle = prepareSettle(db, state)
  return {
    findOrder: (orderId) => recent.findOrder(orderId),
    findNonce: (owner, nonce) => recent.findNonce(owner, nonce),
    ...prepareOutbox(db, state),
    ...prepareWatch(db),
    commit: (market, entries, atMs) => commit({ market, entries, atMs }),
    lastNo: () => state.lastNo,
    published: (market) => publishedOf(state, market),
    markPublished(market, position) {
      state.published.set(market, position)
      if (isDue(state)) settle()
    },
    close() {
      if (!db.open) return
      try {
        settle()
      } finally {
        db.close()
      }
    },
  }
}

/** What is known without asking the file, which nobody else writes. */
interface State {
  readonly recent: RecentClaims
  /** By market. */
  readonly published: Map<string, PublishedPosition>
  lastNo: number
  /** What the outbox holds, as far as this process put it there or found it. */
  messages: number
  bytes: number
}

/**
 * Claims and messages that gather before the claims are moved into their table and what is published leaves the outbox,
 * all in one transaction: a page of the table is then written once for many orders.
 */
export const MAX_RECENT_CLAIMS = 2_048
const MAX_KEPT_MESSAGES = 256
const MAX_KEPT_BYTES = 8 * 1024 * 1024

const isDue = ({ recent, messages, bytes }: State): boolean =>
  recent.size() >= MAX_RECENT_CLAIMS || messages >= MAX_KEPT_MESSAGES || bytes >= MAX_KEPT_BYTES

const NOTHING_PUBLISHED: PublishedPosition = { streamSeq: 0, lastNo: 0 }

const publishedOf = ({ published }: State, market: string): PublishedPosition =>
  published.get(market) ?? NOTHING_PUBLISHED

function readState(db: Database, recent: RecentClaims): State {
  const counted = db.prepare<[], number>('SELECT last_no FROM command_count').pluck()
  const kept = db.prepare<[], { lastNo: number; market: string; bytes: number; claims: string }>(
    'SELECT last_no AS lastNo, market, length(payload) AS bytes, claims FROM outbox ORDER BY last_no',
  )
  const published = db.prepare<[], PublishedPosition & { market: string }>(
    'SELECT market, stream_seq AS streamSeq, last_no AS lastNo FROM published',
  )
  for (const statement of [counted, kept, published]) statement.safeIntegers(false)
  const state: State = {
    recent,
    published: new Map(published.all().map(({ market, ...position }) => [market, position])),
    ...{ lastNo: counted.get() ?? 0, messages: 0, bytes: 0 },
  }
  for (const { lastNo, market, bytes, claims } of kept.iterate()) {
    state.lastNo = Math.max(state.lastNo, lastNo)
    state.messages += 1
    state.bytes += bytes
    for (const claim of decodeClaims(claims)) {
      assert(recent.take(market, claim) === undefined, `${claim.orderId} was claimed twice`)
    }
  }
  return state
}

function prepareTable(db: Database): ClaimTable {
  const byId = db.prepare<[string], TakenRow>(
    'SELECT order_id, market, fingerprint FROM taken_order WHERE order_id = ?',
  )
  const byNonce = db.prepare<[string, string], TakenRow>(
    'SELECT order_id, market, fingerprint FROM taken_order WHERE owner = ? AND nonce = ?',
  )
  return {
    findOrder: (orderId) => takenOrder(byId.get(orderId)),
    findNonce: (owner, nonce) => takenOrder(byNonce.get(owner, nonce.toString())),
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

function prepareOutbox(db: Database, state: State): Pick<IntakeRegistry, 'outbox'> {
  const outbox = db.prepare<[string, number], OutboxMessage>(
    `SELECT market, last_no AS lastNo, payload FROM outbox WHERE market = ? AND last_no > ?
     ORDER BY last_no`,
  )
  outbox.safeIntegers(false)
  return {
    outbox(market) {
      const { lastNo } = publishedOf(state, market)
      // Numbers are the venue's, not the market's: only when none is newer can nothing be left of the market.
      return lastNo >= state.lastNo ? [] : outbox.all(market, lastNo)
    },
  }
}

interface CommitInput {
  readonly market: string
  readonly entries: readonly LogEntry[]
  readonly atMs: number
}

type Commit = (input: CommitInput) => ReturnType<IntakeRegistry['commit']>

const LOGGED: EntryOutcome = { kind: 'logged' }

function prepareCommit(db: Database, state: State): Commit {
  const { recent } = state
  const enqueue = db.prepare(
    'INSERT INTO outbox (last_no, market, payload, claims) VALUES (?, ?, ?, ?)',
  )
  const store = db.transaction(({ lastNo, market, payload }: OutboxMessage, claims: string) => {
    enqueue.run(lastNo, market, payload, claims)
    crash('intake.in_commit')
  })

  const write = (input: CommitInput, taken: Claim[]): ReturnType<Commit> => {
    const { market, entries, atMs } = input
    const outcomes: EntryOutcome[] = []
    const commands: LoggedCommand[] = []
    let { lastNo } = state
    for (const entry of entries) {
      const { claim } = entry
      const outcome = (claim && recent.take(market, claim)) ?? LOGGED
      outcomes.push(outcome)
      if (outcome.kind !== 'logged') continue
      if (claim !== undefined) taken.push(claim)
      lastNo += 1
      commands.push(loggedCommand(entry, lastNo, atMs))
    }
    if (commands.length === 0) return { outcomes }
    const message = { market, lastNo, payload: encodeCommands(commands) }
    store.immediate(message, encodeClaims(taken))
    state.lastNo = lastNo
    state.messages += 1
    state.bytes += message.payload.length
    return { outcomes, message }
  }

  return (input) => {
    const taken: Claim[] = []
    try {
      return write(input, taken)
    } catch (error) {
      for (const claim of taken) recent.giveBack(claim)
      throw error
    }
  }
}

function loggedCommand(entry: LogEntry, sourceNo: number, atMs: number): LoggedCommand {
  const { command, replyTo, requestId } = entry
  if (replyTo !== undefined && requestId !== undefined) {
    return { source: INTAKE_SOURCE, sourceNo, atMs, replyTo, requestId, command }
  }
  const asker = {
    ...(replyTo !== undefined && { replyTo }),
    ...(requestId !== undefined && { requestId }),
  }
  return { source: INTAKE_SOURCE, sourceNo, atMs, ...asker, command }
}

/**
 * Moves the claims of the outbox into their table and takes out what is published. Not waited for: until the next commit
 * makes it durable, a power cut restores the outbox with all that it carried.
 */
function prepareSettle(db: Database, state: State): () => void {
  const { recent, published } = state
  const take = db.prepare(
    'INSERT INTO taken_order (order_id, owner, nonce, market, fingerprint) VALUES (?, ?, ?, ?, ?)',
  )
  const clear = db.prepare('DELETE FROM outbox WHERE market = ? AND last_no <= ?')
  const moved = db.prepare(`UPDATE outbox SET claims = '[]' WHERE claims <> '[]'`)
  const count = db.prepare('UPDATE command_count SET last_no = ?')
  const advance = db.prepare(
    `INSERT INTO published (market, stream_seq, last_no) VALUES (?, ?, ?)
     ON CONFLICT (market) DO UPDATE SET stream_seq = excluded.stream_seq, last_no = excluded.last_no`,
  )
  const left = db.prepare<[], { messages: number; bytes: number }>(
    'SELECT count(*) AS messages, coalesce(sum(length(payload)), 0) AS bytes FROM outbox',
  )
  left.safeIntegers(false)
  const settle = db.transaction(() => {
    for (const { market, claim } of recent.waiting()) {
      const { orderId, owner, nonce, fingerprint } = claim
      take.run(orderId, owner, nonce.toString(), market, fingerprint)
    }
    for (const [market, { streamSeq, lastNo }] of published) {
      clear.run(market, lastNo)
      advance.run(market, streamSeq, lastNo)
    }
    moved.run()
    count.run(state.lastNo)
  })
  return () => {
    db.pragma('synchronous = NORMAL')
    try {
      settle.immediate()
    } finally {
      db.pragma('synchronous = FULL')
    }
    recent.moved()
    Object.assign(state, left.get())
  }
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
