import type { Database } from 'better-sqlite3'
import { termsText } from '../bus-schemas/markets.js'
import type { Address } from '../core/action.js'
import type { MarketTerms } from '../core/model/market-terms.js'
import { prepareStoring, type RegistryState, type ClaimWriter } from './claim-storing.js'
import { CHECKPOINT_PAGES, type ClaimThread, type LogPosition } from './claim-writer.js'
import { openDatabase, takeLock } from './open.js'
import {
  createRecentClaims,
  type OrderClaim,
  type ClaimTable,
  type ClaimTaken,
  type TakenOrder,
} from './recent-claims.js'

export type { OrderClaim, ClaimTaken, TakenOrder } from './recent-claims.js'

/** What a market's feed stated, and where. */
export interface StatedTerms {
  readonly streamSeq: number
  readonly terms: MarketTerms
}

/**
 * Which order ids and nonces are taken: a fold of the command logs, stored after them. A crash loses the newest part, which
 * the logs hold. order-intake is the sole writer of the file. `fold` throws DiskTrouble, after which nothing is lost and the
 * call may be repeated; what else SQLite throws is a fault of the file.
 */
export interface IntakeRegistry {
  findOrder(orderId: string): TakenOrder | undefined
  findNonce(owner: Address, nonce: bigint): TakenOrder | undefined
  /** Whether the owner has ever placed an order. */
  hasOrderOf(owner: Address): boolean
  /** Takes the claim of an order on its way into a log, in memory; undefined when it was free in every market. */
  take(market: string, claim: OrderClaim): ClaimTaken | undefined
  /** Releases a claim whose order enters no log. */
  giveBack(claim: OrderClaim): void
  /**
   * The market's log was folded up to the position, and these are the claims since the position before. Calling it again
   * changes nothing. From time to time it stores all that was folded. Returns the orders that hold what another claim took,
   * which no log of this venue should contain. `heldAt`: the last message that made these claims, where that is not the position's.
   */
  fold(
    market: string,
    claims: readonly OrderClaim[],
    position: LogPosition,
    heldAt?: number,
  ): readonly TakenOrder[]
  /** A message up to which the log of the holder's market holds its order; undefined while that is on its way. */
  heldAt(holder: TakenOrder): number | undefined
  /** So many claims wait to be stored that no further order may be placed. */
  isFull(): boolean
  /** Up to where the market's log was folded; zeros before the first time. */
  folded(market: string): LogPosition
  /** The same, as far as it is stored: the log is needed from the message after it. */
  stored(market: string): LogPosition
  /** The greatest number of a command in any log, 0 before the first. */
  lastNo(): number
  /** The sequence from which the market's feed has every live order; 1 before it was first recorded. */
  watchedFrom(market: string): number
  markWatchedFrom(market: string, streamSeq: number): void
  /** The terms that the market's feed last stated, and the message in which it did; undefined before the first. */
  terms(market: string): StatedTerms | undefined
  markTerms(market: string, streamSeq: number, terms: MarketTerms): void
  /** Up to which message the register of markets was read, 0 before the first time; it never becomes smaller. */
  registeredTo(): number
  markRegisteredTo(streamSeq: number): void
  /** Stores what was folded, and releases the file: in the call itself where no batch is on its way to the thread. */
  close(): Promise<void>
}

/** Opens the file, creating it when absent and bringing it up to date. */
export function openIntakeDatabase(path: string, checkpointPages: number): Database {
  const migrations = new URL('../../data/migrations/intake/', import.meta.url)
  return openDatabase({ path, migrations, synchronous: 'FULL', checkpointPages })
}

/**
 * Opens `intake.db` at a path, creating it when absent. It is locked until it is closed: throws AlreadyLocked where another
 * process holds the lock. With a thread, many claims are stored there; without, and few claims, in the call that folds the last.
 */
export function openIntakeRegistry(path: string, thread?: ClaimThread): IntakeRegistry {
  const lock = takeLock(`${path}.lock`)
  // What the thread writes is left to the thread's checkpoints.
  const db = openIntakeDatabase(path, 2 * CHECKPOINT_PAGES)
  const recent = createRecentClaims(prepareTable(db))
  const state = readState(db)
  const storing = prepareStoring(db, { recent, state, thread })
  const folded = (market: string): LogPosition => state.folded.get(market) ?? BEGINNING
  return {
    findOrder: (orderId) => recent.findOrder(orderId),
    findNonce: (owner, nonce) => recent.findNonce(owner, nonce),
    hasOrderOf: (owner) => recent.hasOrderOf(owner),
    take: (market, claim) => recent.take(market, claim),
    giveBack: (claim) => recent.giveBack(claim),
    fold(market, claims, position, heldAt = position.streamSeq) {
      const clashes = claims.flatMap((claim) => recent.land(market, claim, heldAt) ?? [])
      state.folded.set(market, position)
      state.folds += 1
      if (recent.landed().length >= MAX_RECENT_CLAIMS || state.folds >= MAX_FOLDS) storing.store()
      return clashes
    },
    heldAt({ market, orderId }) {
      const landed = recent.landedAt(orderId)
      return landed === undefined ? state.stored.get(market)?.streamSeq : landed.heldAt
    },
    isFull: () => recent.landed().length >= MAX_WAITING_CLAIMS,
    folded,
    stored: (market) => state.stored.get(market) ?? BEGINNING,
    lastNo: () => Math.max(0, ...Array.from(state.folded.values(), ({ lastNo }) => lastNo)),
    ...prepareWatch(db, storing.whenFree),
    ...prepareTerms(db, storing.whenFree),
    ...prepareRegister(db, storing.whenFree),
    async close() {
      if (!db.open) return
      const running = storing.running()
      if (running !== undefined) await running
      try {
        storing.storeRest()
      } finally {
        db.close()
        lock.release()
      }
      await thread?.stop()
    },
  }
}

const BEGINNING: LogPosition = { streamSeq: 0, lastNo: 0 }

/** Claims that gather before one transaction stores them: a page of the table is then written once for many orders. */
export const MAX_RECENT_CLAIMS = 2_048
/** Claims that wait while earlier ones are being stored; beyond it no order is placed. */
export const MAX_WAITING_CLAIMS = 65_536
/** Folds after which all is stored: what a start reads of the log at most, besides the messages of other writers. */
export const MAX_FOLDS = 256

function readState(db: Database): RegistryState {
  const positions = db.prepare<[], LogPosition & { market: string }>(
    'SELECT market, stream_seq AS streamSeq, last_no AS lastNo FROM log_position',
  )
  positions.safeIntegers(false)
  const stored = positions.all().map(({ market, ...position }) => [market, position] as const)
  return { folded: new Map(stored), stored: new Map(stored), folds: 0 }
}

function prepareTable(db: Database): ClaimTable {
  const byId = db.prepare<[string], TakenRow>('SELECT * FROM taken_order WHERE order_id = ?')
  const byNonce = db.prepare<[string, string], TakenRow>(
    'SELECT * FROM taken_order WHERE owner = ? AND nonce = ?',
  )
  const byOwner = db.prepare<[string]>('SELECT 1 FROM taken_order WHERE owner = ? LIMIT 1')
  return {
    hasOrderOf: (owner) => byOwner.get(owner) !== undefined,
    findOrder: (orderId) => takenOrder(byId.get(orderId)),
    findNonce: (owner, nonce) => takenOrder(byNonce.get(owner, nonce.toString())),
  }
}

interface TakenRow {
  readonly order_id: string
  readonly owner: Address
  readonly nonce: string
  readonly market: string
  readonly fingerprint: Uint8Array
}

function takenOrder(row: TakenRow | undefined): TakenOrder | undefined {
  if (row === undefined) return undefined
  const { order_id: orderId, owner, nonce, market, fingerprint } = row
  return { orderId, owner, nonce: BigInt(nonce), market, fingerprint }
}

function prepareWatch(
  db: Database,
  whenFree: ClaimWriter['whenFree'],
): Pick<IntakeRegistry, 'watchedFrom' | 'markWatchedFrom'> {
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
    markWatchedFrom: (market, streamSeq) =>
      whenFree(`watched ${market}`, () => void write.run(market, streamSeq)),
  }
}

function prepareTerms(
  db: Database,
  whenFree: ClaimWriter['whenFree'],
): Pick<IntakeRegistry, 'terms' | 'markTerms'> {
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
      whenFree(`terms ${market}`, () => void write.run(market, streamSeq, termsText.write(terms))),
  }
}

function prepareRegister(
  db: Database,
  whenFree: ClaimWriter['whenFree'],
): Pick<IntakeRegistry, 'registeredTo' | 'markRegisteredTo'> {
  const read = db.prepare<[], number>('SELECT stream_seq FROM register_position').pluck()
  read.safeIntegers(false)
  const write = db.prepare(
    `INSERT INTO register_position (only_row, stream_seq) VALUES (1, ?)
     ON CONFLICT (only_row) DO UPDATE SET stream_seq = max(stream_seq, excluded.stream_seq)`,
  )
  return {
    registeredTo: () => read.get() ?? 0,
    markRegisteredTo: (streamSeq) => whenFree('register', () => void write.run(streamSeq)),
  }
}
