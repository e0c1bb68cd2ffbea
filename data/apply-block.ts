import type { Database } from 'better-sqlite3'
import { assert } from '../core/assert.js'
import type { Block } from '../core/change.js'
import type { Market } from '../core/market.js'
import { createCandleWriter } from './write-candles.js'
import { createChangeWriter } from './apply-change.js'
import type { ChangeWriter } from './apply-change.js'
import { createForgetOrders, type ForgetOrders } from './forget-orders.js'

/** A block and where it stands in its market's stream. */
export interface StreamedBlock {
  readonly streamSeq: number
  readonly block: Block
}

/** How far a market is projected; both 0 before the first block. */
export interface Position {
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
  position(market: string): Position
}

/** What the projection needs to know of a market. */
export type ProjectedMarket = Pick<Market, 'market' | 'ordinal'>

/** Opens the projection of these markets in a database of the history schema; a new market starts at 0. */
export function createProjection(db: Database, markets: readonly ProjectedMarket[]): Projection {
  const cursors = createCursors(db)
  cursors.register(markets)
  const candles = createCandleWriter(db)
  const writer = createChangeWriter(db, candles)
  const forgetOrders = createForgetOrders(db)
  const ordinals = new Map(markets.map(({ market, ordinal }) => [market, ordinal]))

  const applyBatch = db.transaction((batch: readonly StreamedBlock[]) => {
    candles.begin()
    writer.begin()
    forgetOrders.begin()
    const positions = new Map<string, Position>()
    for (const { streamSeq, block } of batch) {
      const { market } = block
      const ordinal = ordinals.get(market)
      assert(ordinal !== undefined, `market ${market} is not projected`)
      const position = positions.get(market) ?? cursors.read(market)
      positions.set(
        market,
        applyBlock({ writer, forgetOrders, ordinal, position }, streamSeq, block),
      )
    }
    writer.flush()
    candles.flush()
    for (const [market, position] of positions) cursors.advance(market, position)
  })
  return {
    applyBatch: (batch) => applyBatch.immediate(batch),
    position: (market) => cursors.read(market),
  }
}

interface BlockContext {
  readonly writer: ChangeWriter
  readonly forgetOrders: ForgetOrders
  readonly ordinal: number
  /** Where the market stands before the block. */
  readonly position: Position
}

/** Where the market stands after the block. */
function applyBlock(context: BlockContext, streamSeq: number, block: Block): Position {
  const { writer, forgetOrders, ordinal, position } = context
  const { market, firstSeq, changes } = block
  const lastSeq = firstSeq + changes.length - 1
  if (streamSeq <= position.streamSeq) {
    assert(lastSeq <= position.feedSeq, `${market}: message ${streamSeq} is not what it was`)
    return position
  }
  assert(
    firstSeq === position.feedSeq + 1,
    `${market}: block ${firstSeq} (message ${streamSeq}) cannot follow change ${position.feedSeq}`,
  )
  for (const [index, change] of changes.entries()) {
    assert(change.seq === firstSeq + index, `${market}: change ${change.seq} is out of place`)
    writer.apply(ordinal, change)
  }
  forgetOrders.after(ordinal, block)
  return { streamSeq, feedSeq: lastSeq }
}

function createCursors(db: Database) {
  const insert = db.prepare<[number, string]>(
    `INSERT INTO markets (market_id, market, stream_seq, feed_seq) VALUES (?, ?, 0, 0)
     ON CONFLICT DO NOTHING`,
  )
  const select = db
    .prepare<[string], Position & { marketId: number }>(
      `SELECT market_id AS marketId, stream_seq AS streamSeq, feed_seq AS feedSeq
       FROM markets WHERE market = ?`,
    )
    .safeIntegers(false)
  const update = db.prepare<[number, number, string]>(
    'UPDATE markets SET stream_seq = ?, feed_seq = ? WHERE market = ?',
  )
  return {
    register: db.transaction((markets: readonly ProjectedMarket[]) => {
      for (const { market, ordinal } of markets) {
        insert.run(ordinal, market)
        assert(
          select.get(market)?.marketId === ordinal,
          `${market} and its ordinal ${ordinal} are not the pair that this database was made with`,
        )
      }
    }),
    read(market: string): Position {
      const row = select.get(market)
      assert(row !== undefined, `market ${market} is not projected`)
      return { streamSeq: row.streamSeq, feedSeq: row.feedSeq }
    },
    advance(market: string, { streamSeq, feedSeq }: Position): void {
      update.run(streamSeq, feedSeq, market)
    },
  }
}
