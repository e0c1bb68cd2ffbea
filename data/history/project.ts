import type { Database } from 'better-sqlite3'
import { termsText } from '../../bus-schemas/markets.js'
import { assert } from '../../core/assert.js'
import { isNextSeq, type Block, type Change } from '../../core/model/change.js'
import type { MarketTerms } from '../../core/model/market-terms.js'
import { createCandleWriter } from './write-candles.js'
import { createChangeWriter, type ChangeWriter, type ProjectedMarket } from './write-change.js'
import { databasePath } from '../places.js'

/** A block and its sequence in its market's stream. */
export interface StreamedBlock {
  readonly streamSeq: number
  readonly block: Block
}

/** Position up to which a market is projected; both 0 before the first block. */
export interface ProjectedPosition {
  /** Sequence of the last applied message of the market's feed stream. */
  readonly streamSeq: number
  /** Sequence of the last applied change. */
  readonly feedSeq: number
}

export interface Projection {
  /**
   * Applies blocks in their order, with their markets' positions, in one transaction: all of them or, when it throws,
   * none. A block that was applied before is skipped. A gap in the changes, a market that is not projected or a
   * change of an unknown order throws InvariantBroken.
   */
  applyBatch(batch: readonly StreamedBlock[]): void
  position(market: string): ProjectedPosition
  /** Projects one market more, from its start or its stored position, unless another market has its ordinal. */
  add(market: ProjectedMarket): OrdinalTaken | undefined
}

/** Why a market cannot be projected: keys and trade ids of its rows would be those of another market. */
export interface OrdinalTaken {
  readonly ordinal: number
  /** The market that was projected first with this ordinal. */
  readonly takenBy: string
}

/**
 * Opens the projection of these markets in a database of the history schema; a new market starts at 0. An ordinal of
 * another market throws InvariantBroken.
 */
export function createProjection(db: Database, markets: readonly ProjectedMarket[]): Projection {
  const cursors = createCursors(db)
  const candles = createCandleWriter(db)
  const writer = createChangeWriter(db, candles)
  const forgetOrders = createForgetOrders(db, writer.flushEndedBy)
  const byName = new Map<string, ProjectedMarket>()
  const add = (market: ProjectedMarket): OrdinalTaken | undefined => {
    const registered = cursors.register(market)
    if ('takenBy' in registered) return registered
    byName.set(market.market, registered)
    return undefined
  }
  for (const market of markets) {
    const { ordinal, takenBy } = add(market) ?? {}
    assert(takenBy === undefined, `${market.market} has the ordinal ${ordinal} of ${takenBy}`)
  }

  const applyBatch = db.transaction((batch: readonly StreamedBlock[]) => {
    candles.begin()
    writer.begin()
    forgetOrders.begin()
    const positions = new Map<string, ProjectedPosition>()
    const terms = new Map<string, MarketTerms>()
    for (const { streamSeq, block } of batch) {
      const market = byName.get(block.market)
      assert(market !== undefined, `market ${block.market} is not projected`)
      const position = positions.get(block.market) ?? cursors.read(block.market)
      const context = { writer, forgetOrders, market, position }
      positions.set(block.market, applyBlock(context, streamSeq, block))
      if (block.terms !== undefined) terms.set(block.market, block.terms)
    }
    writer.flush()
    candles.flush()
    for (const [market, position] of positions) cursors.advance(market, position)
    for (const [market, stated] of terms) cursors.state(market, stated)
  })
  return {
    applyBatch: (batch) => applyBatch.immediate(batch),
    position: (market) => cursors.read(market),
    add,
  }
}

interface BlockContext {
  readonly writer: ChangeWriter
  readonly forgetOrders: ForgetOrders
  readonly market: ProjectedMarket
  /** The market's position before the block. */
  readonly position: ProjectedPosition
}

/** The market's position after the block. */
function applyBlock(context: BlockContext, streamSeq: number, block: Block): ProjectedPosition {
  const { writer, forgetOrders, position } = context
  const { market, firstSeq, changes } = block
  const lastSeq = firstSeq + changes.length - 1
  if (streamSeq <= position.streamSeq) {
    assert(lastSeq <= position.feedSeq, `${market}: message ${streamSeq} is not what it was`)
    return position
  }
  assert(
    isNextSeq(firstSeq, position.feedSeq),
    `${market}: block ${firstSeq} (message ${streamSeq}) cannot follow change ${position.feedSeq}`,
  )
  for (const [index, change] of changes.entries()) {
    assert(change.seq === firstSeq + index, `${market}: change ${change.seq} is out of place`)
    writer.apply(context.market, change)
  }
  forgetOrders.after(context.market.ordinal, block)
  return { streamSeq, feedSeq: lastSeq }
}

function createCursors(db: Database) {
  const insert = db.prepare<[number, string]>(
    `INSERT INTO markets (market_id, market, stream_seq, feed_seq) VALUES (?, ?, 0, 0)
     ON CONFLICT DO NOTHING`,
  )
  const select = db
    .prepare<[string], ProjectedPosition & { marketId: number }>(
      `SELECT market_id AS marketId, stream_seq AS streamSeq, feed_seq AS feedSeq
       FROM markets WHERE market = ?`,
    )
    .safeIntegers(false)
  const nameOf = db
    .prepare<[number], string>('SELECT market FROM markets WHERE market_id = ?')
    .pluck()
  const update = db.prepare<[number, number, string]>(
    'UPDATE markets SET stream_seq = ?, feed_seq = ? WHERE market = ?',
  )
  const restate = db.prepare<[string, string]>('UPDATE markets SET terms = ? WHERE market = ?')
  return {
    state: (market: string, terms: MarketTerms) => void restate.run(termsText.write(terms), market),
    /** The market under the ordinal that it was first projected with. */
    register(market: ProjectedMarket): ProjectedMarket | OrdinalTaken {
      insert.run(market.ordinal, market.market)
      const ordinal = select.get(market.market)?.marketId
      if (ordinal !== undefined) return { ...market, ordinal }
      const takenBy = nameOf.get(market.ordinal)
      assert(takenBy !== undefined, `${market.market} was not registered`)
      return { ordinal: market.ordinal, takenBy }
    },
    read(market: string): ProjectedPosition {
      const row = select.get(market)
      assert(row !== undefined, `market ${market} is not projected`)
      return { streamSeq: row.streamSeq, feedSeq: row.feedSeq }
    },
    advance(market: string, { streamSeq, feedSeq }: ProjectedPosition): void {
      update.run(streamSeq, feedSeq, market)
    },
  }
}

/** Schema of history.db, the read model. */
export const HISTORY_MIGRATIONS = new URL('../../../data/migrations/history/', import.meta.url)

/**
 * Options with which a writer opens history.db. Durability is NORMAL because the file can be rebuilt. A page of twice
 * the usual size holds twice the rows, so that half as many pages are written. The checkpoint threshold of 16 MiB lets
 * several transactions write a page before it is copied into the file once.
 */
export const HISTORY_FILE = {
  migrations: HISTORY_MIGRATIONS,
  synchronous: 'NORMAL',
  pageBytes: 8_192,
  checkpointPages: 2_000,
} as const

/** Path of the read model in a venue's DATA_DIR. */
export const historyPath = (dataDir: string): string => databasePath(dataDir, 'history.db')

/** Retention of an order that was cancelled or expired without a fill, counted from its end in the market's time. */
export const RETENTION_MS = 30 * 86_400_000
/**
 * Deletions per change: more than the orders that a change can end, so that no backlog grows; few, so that a block
 * stays cheap.
 */
export const FORGOTTEN_PER_CHANGE = 4

/**
 * The orders of a market that ended without a fill, oldest end first; the conditions repeat those of the partial index.
 */
export const LEAVING_SQL = `
  SELECT order_key FROM order_progress
  WHERE market_id = ? AND ended_at_ms <= ?
    AND ended_at_ms IS NOT NULL AND filled_quote IS NULL AND pending = '0'
  ORDER BY ended_at_ms, order_key
  LIMIT ?`

/** When the first of them ended. */
const FIRST_LEAVING_SQL = `
  SELECT ended_at_ms FROM order_progress
  WHERE market_id = ? AND ended_at_ms IS NOT NULL AND filled_quote IS NULL AND pending = '0'
  ORDER BY ended_at_ms
  LIMIT 1`

/** Deletes orders whose retention is over; must run inside a transaction. */
interface ForgetOrders {
  /** Call before the first block of a transaction: discards what a failed transaction left in memory. */
  begin(): void
  /**
   * Deletes orders whose retention is over as of the block's last change; call it once the block is written. The number
   * of deletions follows from the block alone: the same feed leaves the same rows, however its blocks were grouped into
   * transactions.
   */
  after(ordinal: number, block: Block): void
}

function createForgetOrders(
  db: Database,
  flushEndedBy: ChangeWriter['flushEndedBy'],
): ForgetOrders {
  const leaving = db.prepare<[number, number, number], number>(LEAVING_SQL).pluck()
  const selectLeaving = leaving.safeIntegers(false)
  const first = db.prepare<[number], number>(FIRST_LEAVING_SQL).pluck()
  const selectFirst = first.safeIntegers(false)
  const deleteProgress = db.prepare<[number]>('DELETE FROM order_progress WHERE order_key = ?')
  const deleteEvents = db.prepare<[number]>('DELETE FROM order_events WHERE order_key = ?')
  const deleteOrder = db.prepare<[number]>('DELETE FROM orders WHERE order_key = ?')
  /**
   * By market, a lower bound for the end of the oldest order that can be deleted: nearly every block needs one
   * comparison only.
   */
  const noneBeforeMs = new Map<number, number>()

  const forget = (ordinal: number, endedByMs: number, limit: number): void => {
    const unwrittenMs = flushEndedBy(endedByMs)
    for (const key of selectLeaving.all(ordinal, endedByMs, limit)) {
      deleteEvents.run(key)
      deleteProgress.run(key)
      deleteOrder.run(key)
    }
    noneBeforeMs.set(ordinal, Math.min(selectFirst.get(ordinal) ?? Infinity, unwrittenMs))
  }
  return {
    begin: () => noneBeforeMs.clear(),
    after(ordinal, { changes }) {
      const last = changes.at(-1)
      if (last === undefined) return
      const endedByMs = last.atMs - RETENTION_MS
      const known = noneBeforeMs.get(ordinal)
      if (known !== undefined && !changes.some(isOfAnEarlierEnd)) {
        const firstMs = changes.reduce((least, { atMs }) => Math.min(least, atMs), known)
        noneBeforeMs.set(ordinal, firstMs)
        if (endedByMs < firstMs) return
      }
      forget(ordinal, endedByMs, changes.length * FORGOTTEN_PER_CHANGE)
    },
  }
}

/** A reversed match may have been the only reason to keep an order that had already ended. */
const isOfAnEarlierEnd = ({ kind }: Change): boolean =>
  kind === 'MatchReverted' || kind === 'FillReversed'
