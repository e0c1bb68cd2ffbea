import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Address } from '../core/action.js'
import type { Candle } from '../core/candles.js'
import type { OpenOrder } from '../core/records/book-record.js'
import type { Trade, TradeStats } from '../core/records/trade-record.js'
import type { Order, OrderProgress } from '../core/order.js'
import type { PriceE18, QuoteE18 } from '../core/money.js'
import { HISTORY_MIGRATIONS } from './history-database.js'
import type { HistoryPage } from './history-page.js'
import { openDatabase, UnknownSchemaVersion } from './open.js'
import { createReadCandles } from './read-candles.js'
import type { CandleRange } from './read-candles.js'
import { createReadFills } from './read-fills.js'
import type { HistoryFill } from './read-fills.js'
import { createReadLastPrice, createReadLastTradeSec } from './read-last-trade.js'
import { createReadBestPrices, createReadOpenOrders } from './read-open-orders.js'
import type { BestPrices } from './read-open-orders.js'
import { createReadOrderHistory } from './read-order-history.js'
import type { HistoryOrder } from './read-order-history.js'
import { createReadOrder } from './read-order.js'
import { createReadProjectedSeq } from './read-position.js'
import { createReadStats24h } from './read-stats-24h.js'
import { createReadTrades } from './read-trades.js'

/** An order and where it stands, as the projection holds it. */
export interface StoredOrder {
  readonly order: Order
  readonly progress: OrderProgress
  /** Quote exchanged over the order's fills, each at its execution price; absent when it has none. */
  readonly filledQuote?: QuoteE18
}

/** Questions the gateway asks of the projection; one file each behind it. Never blocks on the projector. */
export interface ReadModel {
  /** Highest feed `seq` of the market that is projected; 0 before the first. */
  projectedSeq(market: string): number
  order(orderId: string): StoredOrder | undefined
  /** Orders with something open, bids and then asks, best first; `depth` keeps that many of each side. */
  openOrders(market: string, depth?: number): OpenOrder[]
  bestPrices(market: string): BestPrices
  /** Newest first, strictly below `beforeTradeId` when given. */
  trades(market: string, limit: number, beforeTradeId?: number): Trade[]
  /** Price of the newest fill at any age. */
  lastPrice(market: string): PriceE18 | undefined
  /** An owner's orders over all markets, newest first. */
  orderHistory(owner: Address, page: HistoryPage): HistoryOrder[]
  /** What an owner's orders traded over all markets, newest first; one row for each order's leg. */
  fills(owner: Address, page: HistoryPage): HistoryFill[]
  /** Oldest first; buckets without trades are absent. */
  candles(market: string, range: CandleRange): Candle[]
  /** Undefined when nothing traded. */
  stats24h(market: string, nowMs: number): TradeStats | undefined
  /** Unix seconds of the newest fill. */
  lastTradeSec(market: string): number | undefined
  close(): void
}

/** The projector has not made the file yet, or not to this build's schema; asking again later is what to do. */
export class ReadModelAbsent extends Error {
  override readonly name = 'ReadModelAbsent'
}

/**
 * Opens history.db for reading while the projector writes to it. Throws ReadModelAbsent when there is no such file or
 * the projector has not brought it up to date yet, UnknownSchemaVersion when a newer release made it.
 */
export function openReadModel(path: string): ReadModel {
  const db = openForReading(path)
  return {
    projectedSeq: createReadProjectedSeq(db),
    order: createReadOrder(db),
    openOrders: createReadOpenOrders(db),
    bestPrices: createReadBestPrices(db),
    orderHistory: createReadOrderHistory(db),
    fills: createReadFills(db),
    candles: createReadCandles(db),
    trades: createReadTrades(db),
    stats24h: createReadStats24h(db),
    lastTradeSec: createReadLastTradeSec(db),
    lastPrice: createReadLastPrice(db),
    close: () => void db.close(),
  }
}

function openForReading(path: string): Database.Database {
  if (!existsSync(path)) throw new ReadModelAbsent(`${path} does not exist yet`)
  if (schemaVersion(path) === 0) throw new ReadModelAbsent(`${path} is being made`)
  const migrations = HISTORY_MIGRATIONS
  try {
    return openDatabase({ path, migrations, synchronous: 'NORMAL', readonly: true })
  } catch (error) {
    // Each migration is a transaction of its own, and the projector may die between two of them.
    if (!(error instanceof UnknownSchemaVersion) || error.found > error.known) throw error
    throw new ReadModelAbsent(`${path} is being brought up to date`, { cause: error })
  }
}

/** 0 until the projector's first migration is committed. */
function schemaVersion(path: string): number {
  const db = new Database(path, { readonly: true, fileMustExist: true })
  try {
    return Number(db.pragma('user_version', { simple: true }))
  } finally {
    db.close()
  }
}
