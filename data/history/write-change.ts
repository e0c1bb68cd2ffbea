import type { Database } from 'better-sqlite3'
import { orderText } from '../../bus-schemas/orders.js'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/model/market.js'
import { contractOf } from '../../core/contracts/registry.js'
import { notionalFloor } from '../../core/contracts/fees.js'
import { orderAfter, type Change } from '../../core/model/change.js'
import { sumsAfter } from '../../core/engine/order-sums.js'
import type { QuoteE18 } from '../../core/money.js'
import { ORDINALS } from '../../core/engine/trade-id.js'
import { blobOf, logKey } from '../row-values.js'
import { createEntryWriter } from './entries.js'
import type { CandleWriter } from './write-candles.js'
import { createEventWriter } from './write-events.js'
import { createProgressWriter, type ProgressWriter } from './write-progress.js'

/** The market data that the projection needs. */
export type ProjectedMarket = Pick<Market, 'market' | 'ordinal' | 'contractType' | 'takerFeeBps'>

export interface ChangeWriter {
  /** Call before the first change of a transaction. */
  begin(): void
  /** Writes the effect of one change of the market. */
  apply(market: ProjectedMarket, change: Change): void
  readonly flushEndedBy: ProgressWriter['flushEndedBy']
  /** Call after the last change of a transaction. */
  flush(): void
}

type PlacementChange = Extract<Change, { kind: 'OrderPlaced' }>
type FillChange = Extract<Change, { kind: 'OrderFilled' }>
type ReversalChange = Extract<Change, { kind: 'FillReversed' }>

/** The writes of each kind of change; must run inside a transaction. */
export function createChangeWriter(db: Database, candles: CandleWriter): ChangeWriter {
  const insertOrder = createInsertOrder(db)
  const progress = createProgressWriter(db)
  const updateOrder = createUpdateOrder(db)
  const note = createEventWriter(db)
  const traded = createTradedWriter(db, candles, progress)
  const placeOrder = (market: ProjectedMarket, change: PlacementChange): void => {
    const key = insertOrder(market.ordinal, change)
    progress.place(key, market.ordinal, change)
    note(market.ordinal, key, change)
  }
  const reverseFill = (market: ProjectedMarket, change: ReversalChange): void => {
    note(market.ordinal, traded.reverse(market, change), change)
  }
  return {
    begin() {
      progress.begin()
      traded.begin()
    },
    flushEndedBy: progress.flushEndedBy,
    flush() {
      progress.flush()
      traded.flush()
    },
    apply(market, change) {
      switch (change.kind) {
        case 'OrderPlaced':
          placeOrder(market, change)
          break
        case 'OrderFilled':
          traded.fill(market, change)
          break
        case 'FillReversed':
          reverseFill(market, change)
          break
        case 'OrderCancelled':
          progress.move(change, change)
          break
        case 'MatchReverted':
          note(market.ordinal, progress.move(change, change), change)
          break
        case 'OrderReleased': {
          const key = progress.move(change, change)
          updateOrder(key, change)
          note(market.ordinal, key, change)
          break
        }
        case 'OrderResized':
          updateOrder(progress.move(change, change), change)
          break
        case 'OrderHeld':
          note(market.ordinal, progress.move(change), change)
          break
        case 'OrderMatched':
        case 'OrderExpired':
          progress.move(change)
          break
        // Its rows would have been deleted by now.
        case 'OrderForgotten':
        case 'CommandRefused':
          break
      }
    },
  }
}

/** Writes what fills and their reversals make of orders, trades, candles and positions. */
function createTradedWriter(db: Database, candles: CandleWriter, progress: ProgressWriter) {
  const fills = createFillWriter({ db, candles, keyOf: progress.keyOf })
  const entries = createEntryWriter(db)
  const reverseTrade = createTradeReverser({ db, candles })
  return {
    begin: () => fills.begin(),
    flush: () => fills.flush(),
    fill(market: ProjectedMarket, change: FillChange): void {
      const key = progress.move(change, { sumsAfter: (sums) => sumsAfter(market, change, sums) })
      const { price, amount } = change.fill
      const quote = notionalFloor(price, amount)
      if (keepsEntries(market)) entries.fill(market.ordinal, key, change)
      fills.write(market.ordinal, change, { orderKey: key, quote })
    },
    /** Returns the order's key. */
    reverse(market: ProjectedMarket, change: ReversalChange): number {
      const { cancelReason } = change
      const key = progress.move(change, {
        ...(cancelReason !== undefined && { cancelReason }),
        sumsAfter: (sums) => sumsAfter(market, change, sums),
      })
      if (keepsEntries(market)) entries.reverse(market.ordinal, key, change)
      reverseTrade(market.ordinal, change)
      return key
    },
  }
}

/** Whether the positions of the market's accounts are shown, with what they were opened at. */
const keepsEntries = (market: ProjectedMarket): boolean =>
  contractOf(market).present.positions !== undefined

/** Writes what was signed, and returns the order's key. */
function createInsertOrder(db: Database) {
  const insert = db.prepare(
    `INSERT INTO orders (order_key, market_id, order_id, owner, created_at_ms, body)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  return (ordinal: number, { order, seq, atMs }: PlacementChange): number => {
    const key = logKey(seq, ordinal)
    insert.run(key, ordinal, order.orderId, blobOf(order.owner), atMs, orderText.write(order))
    return key
  }
}

/** Stores the order again when a change makes it another: the first release of an unchecked one, or another amount. */
function createUpdateOrder(db: Database) {
  const select = db.prepare<[number], string>('SELECT body FROM orders WHERE order_key = ?').pluck()
  const update = db.prepare('UPDATE orders SET body = ? WHERE order_key = ?')
  return (key: number, change: Change): void => {
    const body = select.get(key)
    if (body === undefined) return
    const before = orderText.read(body)
    const after = orderAfter(change, before)
    if (after !== before) update.run(orderText.write(after), key)
  }
}

export interface FillWriterOptions {
  readonly db: Database
  readonly candles: CandleWriter
  /** The key of an order that was placed. */
  readonly keyOf: (orderId: string) => number
}

/** The order of a fill, and price × size of the fill, rounded down: the quote volume of trades and candles. */
export interface FilledOrder {
  readonly orderKey: number
  readonly quote: QuoteE18
}

/** Writes the legs of fills and their trades; must run inside a transaction. */
export interface FillWriter {
  /** Call at the start of a transaction: discards what a failed transaction left in memory. */
  begin(): void
  write(ordinal: number, change: FillChange, filled: FilledOrder): void
  /** Call at the end of a transaction; throws when a maker's leg has no trade. */
  flush(): void
}

/**
 * The maker's leg comes first and is held back until the taker's leg completes the trade and its candles. Written
 * before its trade, it would make SQLite search all legs of the history for references to the trade.
 */
export function createFillWriter({ db, candles, keyOf }: FillWriterOptions): FillWriter {
  const insertFill = db.prepare(
    `INSERT INTO fills (owner, at_ms, fill_key, trade_id, market_id, order_id, liquidity, side, price,
       amount, fee, tx_hash, mark_price)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const writeTrade = createTradeWriter(db, keyOf)
  let waiting: unknown[] | undefined
  const flush = (): void => {
    if (waiting !== undefined) insertFill.run(...waiting)
    waiting = undefined
  }
  return {
    begin: () => (waiting = undefined),
    flush,
    write(ordinal, change, filled) {
      const { fill, atMs } = change
      const { tradeId, liquidity } = fill
      const leg = legOf(ordinal, change)
      if (liquidity === 'maker') {
        flush()
        waiting = leg
        return
      }
      assert(
        tradeId % ORDINALS === ordinal,
        `trade ${tradeId} is of another market than ${ordinal}`,
      )
      assert(fill.fee === fill.takerFee, `trade ${tradeId}: the taker's fee is not the match's`)
      writeTrade(ordinal, change, filled)
      flush()
      insertFill.run(...leg)
      const { price, amount } = fill
      candles.add(ordinal, { atMs, tradeId, price, amount, quote: filled.quote })
    },
  }
}

/** The column values of a leg, in the order of the insert. */
function legOf(ordinal: number, { fill, seq, atMs, owner, orderId, side }: FillChange): unknown[] {
  return [
    ...[blobOf(owner), atMs, logKey(seq, ordinal), fill.tradeId, ordinal],
    ...[orderId, fill.liquidity, side, String(fill.price), String(fill.amount)],
    ...[String(fill.fee), blobOf(fill.txHash), fill.markPrice?.toString() ?? null],
  ]
}

/** Reverses a trade in all sums, on the maker's leg, which comes first; the row stays and is marked. */
export function createTradeReverser({ db, candles }: Omit<FillWriterOptions, 'keyOf'>) {
  const update = db.prepare('UPDATE trades SET reversed_at_ms = ? WHERE trade_id = ?')
  const select = db
    .prepare<[number], number>('SELECT at_ms FROM trades WHERE trade_id = ?')
    .pluck()
    .safeIntegers(false)
  return (ordinal: number, { fill, atMs }: ReversalChange): void => {
    const { tradeId, liquidity } = fill
    const tradedAtMs = select.get(tradeId)
    assert(tradedAtMs !== undefined, `trade ${tradeId} is reversed and was never made`)
    if (liquidity === 'taker') return
    update.run(atMs, tradeId)
    candles.rebuild(ordinal, tradedAtMs)
  }
}

function createTradeWriter(db: Database, keyOf: FillWriterOptions['keyOf']) {
  const insert = db.prepare(
    `INSERT INTO trades (trade_id, fill_key, market_id, at_ms, settlement_id, maker_order_key, taker_order_key,
       taker_side, price, amount, taker_fee, tx_hash, block_number, quote, mark_price)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (
    ordinal: number,
    { fill, seq, atMs }: FillChange,
    { orderKey, quote }: FilledOrder,
  ): void => {
    insert.run(
      ...[fill.tradeId, logKey(seq, ordinal), ordinal, atMs],
      ...[fill.settlementId, keyOf(fill.makerOrderId), orderKey],
      ...[fill.takerSide, String(fill.price), String(fill.amount), String(fill.takerFee)],
      ...[blobOf(fill.txHash), fill.blockNumber, String(quote)],
      fill.markPrice?.toString() ?? null,
    )
  }
}
