import type { Database } from 'better-sqlite3'
import { commandMessages, type LogMarket } from '../bus-schemas/commands.js'
import { termsText } from '../bus-schemas/markets.js'
import type { Address } from '../core/action.js'
import type { MarketTerms } from '../core/contracts/market-terms.js'
import { assert } from '../core/assert.js'
import { crash } from '../core/crash-point.js'
import type { Command, LoggedCommand } from '../core/engine/command.js'
import { openDatabase } from './open.js'
import {
  createRecentClaims,
  decodeClaims,
  encodeClaims,
  type Claim,
  type ClaimTable,
  type ClaimTaken,
  type RecentClaims,
  type TakenOrder,
} from './recent-claims.js'

/** The writer's name in the command log. */
export const INTAKE_SOURCE = 'intake'

export type { Claim, TakenOrder } from './recent-claims.js'

/** One command to be appended to the log; an order has a claim. */
export interface LogEntry {
  readonly command: Command
  readonly claim?: Claim
  /** The request that waits for the answer; absent for commands that the intake issues by itself. */
  readonly replyTo?: string
  readonly requestId?: string
}

/** A message of the command log; it is durable in the outbox before it is published. */
export interface OutboxMessage {
  readonly market: string
  /** Number of its last command. */
  readonly lastNo: number
  readonly payload: Uint8Array
}

/** Outcome of an entry: it is in the message, or an earlier order holds its id or nonce. */
export type EntryOutcome = { readonly kind: 'logged' } | ClaimTaken

/** What a market's feed stated, and where. */
export interface StatedTerms {
  readonly streamSeq: number
  readonly terms: MarketTerms
}

export interface PublishedPosition {
  readonly streamSeq: number
  readonly lastNo: number
}

/**
 * The only durable state of order-intake, which is the sole writer of the file. Every method throws what SQLite throws.
 */
export interface IntakeRegistry {
  findOrder(orderId: string): TakenOrder | undefined
  findNonce(owner: Address, nonce: bigint): TakenOrder | undefined
  /**
   * In one durable transaction: takes the claims in order, numbers the commands of the entries whose claim was free,
   * and stores them as one message of the outbox. The message is absent when no entry remains.
   */
  commit(
    log: LogMarket,
    entries: readonly LogEntry[],
    atMs: number,
  ): { readonly outcomes: readonly EntryOutcome[]; readonly message?: OutboxMessage }
  /** Messages not yet known to be in the stream, oldest first. */
  outbox(market: string): OutboxMessage[]
  /** Number of the last command ever stored, 0 before the first. */
  lastNo(): number
  /** The known position in the market's stream; zeros before the first message. */
  published(market: string): PublishedPosition
  /**
   * Records that the stream holds our commands up to `lastNo` and has been read up to `streamSeq`. It is written to
   * disk some messages later: a position lost in a crash is read from the stream again.
   */
  markPublished(market: string, position: PublishedPosition): void
  /** The sequence from which the market's feed has every live order; 1 before it was first recorded. */
  watchedFrom(market: string): number
  markWatchedFrom(market: string, streamSeq: number): void
  /** The terms that the market's feed last stated, and the message in which it did; undefined before the first. */
  terms(market: string): StatedTerms | undefined
  markTerms(market: string, streamSeq: number, terms: MarketTerms): void
  close(): void
}

/**
 * Opens `intake.db` at a path, creating it when absent; what `commit` stores is on disk before it returns. The file is
 * locked exclusively until it is closed: two writers would number commands in one order and publish them in another.
 * Throws SqliteError with code SQLITE_BUSY when another process does not release it within a few seconds.
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
    ...prepareTerms(db),
    commit: (log, entries, atMs) => commit({ log, entries, atMs }),
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

/** Cached contents of the file; valid because the file has no other writer. */
interface State {
  readonly recent: RecentClaims
  /** By market. */
  readonly published: Map<string, PublishedPosition>
  lastNo: number
  /** Messages of the outbox, those found at the start included. */
  messages: number
  bytes: number
}

/**
 * Claims and messages that accumulate before one transaction moves the claims into their table and deletes published
 * messages from the outbox: a page of the table is then written once for many orders.
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
      // Numbers count over all markets: only when no number is newer is it certain that the market has no pending
      // command.
      return lastNo >= state.lastNo ? [] : outbox.all(market, lastNo)
    },
  }
}

interface CommitInput {
  readonly log: LogMarket
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
    const { log, entries, atMs } = input
    const { market } = log
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
    const message = { market, lastNo, payload: commandMessages(log).encode(commands) }
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
 * Moves the claims of the outbox into their table and deletes published messages. It does not sync: until the next
 * commit makes it durable, a power cut restores the outbox with its claims.
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

function prepareTerms(db: Database): Pick<IntakeRegistry, 'terms' | 'markTerms'> {
  const read = db
    .prepare<[string], { streamSeq: number; terms: string }>(
      'SELECT stream_seq AS streamSeq, terms FROM market_terms WHERE market = ?',
    )
    .safeIntegers(false)
  const write = db.prepare(
    `INSERT INTO market_terms (market, stream_seq, terms) VALUES (?, ?, ?)
     ON CONFLICT (market) DO UPDATE SET stream_seq = excluded.stream_seq, terms = excluded.terms`,
  )
  return {
    terms(market) {
      const row = read.get(market)
      return row && { streamSeq: row.streamSeq, terms: termsText.read(row.terms) }
    },
    markTerms: (market, streamSeq, terms) =>
      void write.run(market, streamSeq, termsText.write(terms)),
  }
}
