import type { Database } from 'better-sqlite3'
import { orderText } from '../../bus-schemas/orders.js'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/contracts/market.js'
import { contractOf, tradingOf } from '../../core/contracts/registry.js'
import { notionalFloor } from '../../core/contracts/fees.js'
import {
  heldReasonAfter,
  orderAfter,
  type Change,
  type ChangeBase,
  type Fill,
  type HoldReason,
} from '../../core/engine/change.js'
import type { QuoteE18 } from '../../core/money.js'
import { blobOf, logKey } from '../row-values.js'
import { createEntryWriter } from './entries.js'
import type { CandleWriter } from './write-candles.js'
import { createEventWriter } from './write-events.js'

/** The market data that the projection needs. */
export type ProjectedMarket = Pick<Market, 'market' | 'ordinal' | 'contractType' | 'takerFeeBps'>

export interface ChangeWriter {
  /** Call before the first change of a transaction. */
  begin(): void
  /** Writes the effect of one change of the market. */
  apply(market: ProjectedMarket, change: Change): void
  /** Call after the last change of a transaction. */
  flush(): void
}

type Placement = Extract<Change, { kind: 'OrderPlaced' }>
type Filling = Extract<Change, { kind: 'OrderFilled' }>
type Reversing = Extract<Change, { kind: 'FillReversed' }>

/** The writes of each kind of change; must run inside a transaction. */
export function createChangeWriter(db: Database, candles: CandleWriter): ChangeWriter {
  const placeOrder = createPlaceOrder(db)
  const keyOf = createOrderKeys(db)
  const moveOrder = createMoveOrder(db, keyOf)
  const updateOrder = createUpdateOrder(db)
  const fills = createFillWriter({ db, candles, keyOf })
  const addQuote = createAddQuote(db)
  const entries = createEntryWriter(db)
  const note = createEventWriter(db)
  const fillOrder = (market: ProjectedMarket, change: Filling): void => {
    const key = moveOrder(change)
    addQuote(key, quoteOf(market, change.fill))
    const { price, amount } = change.fill
    const quote = notionalFloor(price, amount)
    if (keepsEntries(market)) entries.fill(market.ordinal, key, change)
    fills.write(market.ordinal, change, { orderKey: key, quote })
  }
  const reverseTrade = createTradeReverser({ db, candles })
  const reverseFill = (market: ProjectedMarket, change: Reversing): void => {
    const key = moveOrder(change, change.cancelReason)
    addQuote(key, 0n - quoteOf(market, change.fill))
    if (keepsEntries(market)) entries.reverse(market.ordinal, key, change)
    note(market.ordinal, key, change)
    reverseTrade(market.ordinal, change)
  }
  return {
    begin: () => fills.begin(),
    flush: () => fills.flush(),
    apply(market, change) {
      switch (change.kind) {
        case 'OrderPlaced':
          note(market.ordinal, placeOrder(market.ordinal, change), change)
          break
        case 'OrderFilled':
          fillOrder(market, change)
          break
        case 'FillReversed':
          reverseFill(market, change)
          break
        case 'OrderCancelled':
          moveOrder(change, change.cancelReason)
          break
        case 'MatchReverted':
          note(market.ordinal, moveOrder(change, change.cancelReason), change)
          break
        case 'OrderReleased': {
          const key = moveOrder(change, change.cancelReason)
          updateOrder(key, change)
          note(market.ordinal, key, change)
          break
        }
        case 'OrderResized':
          updateOrder(moveOrder(change, change.cancelReason), change)
          break
        case 'OrderHeld':
          note(market.ordinal, moveOrder(change), change)
          break
        case 'OrderMatched':
        case 'OrderExpired':
          moveOrder(change)
          break
        // Its rows would have been deleted by now.
        case 'OrderForgotten':
          break
      }
    },
  }
}

/** Whether the positions of the market's accounts are shown, with what they were opened at. */
const keepsEntries = (market: ProjectedMarket): boolean =>
  contractOf(market).present.positions !== undefined

function createPlaceOrder(db: Database) {
  const insertOrder = db.prepare(
    `INSERT INTO orders (order_key, market_id, order_id, owner, created_at_ms, body)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const insertProgress = db.prepare(
    `INSERT INTO order_progress (order_key, market_id, side, limit_price, rank,
       status, filled, pending, open, updated_seq, updated_at_ms,
       held_reason, cancel_reason, cancelled_at_ms, ended_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (ordinal: number, change: Placement): number => {
    const key = logKey(change.seq, ordinal)
    const { order, rank, seq, atMs } = change
    insertOrder.run(key, ordinal, order.orderId, blobOf(order.owner), atMs, orderText.write(order))
    insertProgress.run(
      ...[key, ordinal, order.side, String(order.limitPrice), rank],
      ...[change.status, String(change.filled), String(change.pending), String(change.open)],
      ...[seq, atMs, heldReasonAfter(change, undefined) ?? null],
      ...[change.cancelReason ?? null, cancelledAtMs(change), endedAtMs(change)],
    )
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

/** Writes an order's state after a change and returns the order's key; the first end keeps its reason and its time. */
function createMoveOrder(db: Database, keyOf: OrderKeys) {
  const update = db.prepare(
    `UPDATE order_progress SET status = ?, filled = ?, pending = ?, open = ?,
       updated_seq = ?, updated_at_ms = ?, held_reason = ?,
       cancel_reason = COALESCE(cancel_reason, ?), cancelled_at_ms = COALESCE(cancelled_at_ms, ?),
       ended_at_ms = COALESCE(ended_at_ms, ?)
     WHERE order_key = ?`,
  )
  const selectHold = db
    .prepare<[number], HoldReason | null>(
      'SELECT held_reason FROM order_progress WHERE order_key = ?',
    )
    .pluck()
  return (change: Change, cancelReason?: string): number => {
    const key = keyOf(change.orderId)
    const before = change.kind === 'OrderFilled' ? (selectHold.get(key) ?? undefined) : undefined
    update.run(
      ...[change.status, String(change.filled), String(change.pending), String(change.open)],
      ...[change.seq, change.atMs, heldReasonAfter(change, before) ?? null],
      ...[cancelReason ?? null, cancelledAtMs(change), endedAtMs(change), key],
    )
    return key
  }
}

function cancelledAtMs(change: ChangeBase): number | null {
  return change.status === 'cancelled' ? change.atMs : null
}

function endedAtMs(change: ChangeBase): number | null {
  return change.status === 'cancelled' || change.status === 'expired' ? change.atMs : null
}

/** What a fill counts as in `filled_quote`, computed by the market's contract. */
const quoteOf = (market: ProjectedMarket, { price, amount }: Fill): QuoteE18 =>
  tradingOf(market).quoteOf(market, price, amount)

/** Adds to the quote that an order has exchanged. */
function createAddQuote(db: Database) {
  const select = db
    .prepare<[number], string | null>('SELECT filled_quote FROM order_progress WHERE order_key = ?')
    .pluck()
  const update = db.prepare('UPDATE order_progress SET filled_quote = ? WHERE order_key = ?')
  return (key: number, quote: bigint): void => {
    const before = BigInt(select.get(key) ?? '0')
    update.run(String(before + quote), key)
  }
}

export interface FillWriterOptions {
  readonly db: Database
  readonly candles: CandleWriter
  readonly keyOf: OrderKeys
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
  write(ordinal: number, change: Filling, filled: FilledOrder): void
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
      const { fill, seq, atMs } = change
      const key = logKey(seq, ordinal)
      const { tradeId, liquidity } = fill
      const leg = legOf(ordinal, change)
      if (liquidity === 'maker') {
        flush()
        waiting = leg
        return
      }
      assert(tradeId === key, `trade ${tradeId} is not numbered by its taker's change ${seq}`)
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
function legOf(ordinal: number, { fill, seq, atMs, owner, orderId, side }: Filling): unknown[] {
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
  return (ordinal: number, { fill, atMs }: Reversing): void => {
    const { tradeId, liquidity } = fill
    const tradedAtMs = select.get(tradeId)
    assert(tradedAtMs !== undefined, `trade ${tradeId} is reversed and was never made`)
    if (liquidity === 'taker') return
    update.run(atMs, tradeId)
    candles.rebuild(ordinal, tradedAtMs)
  }
}

function createTradeWriter(db: Database, keyOf: OrderKeys) {
  const insert = db.prepare(
    `INSERT INTO trades (trade_id, market_id, at_ms, settlement_id, maker_order_key, taker_order_key,
       taker_side, price, amount, taker_fee, tx_hash, block_number, quote, mark_price)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (ordinal: number, { fill, atMs }: Filling, { orderKey, quote }: FilledOrder): void => {
    insert.run(
      ...[fill.tradeId, ordinal, atMs, fill.settlementId, keyOf(fill.makerOrderId), orderKey],
      ...[fill.takerSide, String(fill.price), String(fill.amount), String(fill.takerFee)],
      ...[blobOf(fill.txHash), fill.blockNumber, String(quote)],
      fill.markPrice?.toString() ?? null,
    )
  }
}

/** The key of an order that was placed; InvariantBroken for one that never was. */
export type OrderKeys = (orderId: string) => number

export function createOrderKeys(db: Database): OrderKeys {
  const select = db
    .prepare<[string], number>('SELECT order_key FROM orders WHERE order_id = ?')
    .pluck()
    .safeIntegers(false)
  return (orderId) => {
    const key = select.get(orderId)
    assert(key !== undefined, `order ${JSON.stringify(orderId)} was never placed`)
    return key
  }
}
