import Database from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Address } from '../../core/action.js'
import { CannotStart } from '../../core/cannot-start.js'
import type { PositionEntry } from '../../core/contracts/contract.js'
import type { MarketTerms } from '../../core/model/market-terms.js'
import type { Order, Side } from '../../core/model/order.js'
import type { PriceE18 } from '../../core/money.js'
import type { Candle } from '../../core/records/candle-record.js'
import type { OpenOrder } from '../../core/records/order-record.js'
import type { Trade, TradeStats } from '../../core/records/trade-record.js'
import { isDamage } from '../../runtime/process/cannot-start.js'
import { DamagedDatabase, isNotedDamaged, openDatabase, UnknownSchemaVersion } from '../open.js'
import { mayLookInto } from '../places.js'
import { createReadCloseOuts, type HistoryCloseOut } from './close-outs.js'
import { createReadEntry } from './entries.js'
import {
  createReadLiquidations,
  type HistoryLiquidation,
  type LiquidationFilter,
} from './liquidations.js'
import { HISTORY_MIGRATIONS } from './project.js'
import {
  createReadBook,
  createReadLevelsNow,
  type BookState,
  type IsKnown,
  type LevelsNow,
} from './read-book.js'
import { createReadCandles, createReadStats24h, type CandleRange } from './read-candles.js'
import {
  createReadAllTerms,
  createReadBestPrices,
  createReadLastPrice,
  createReadLastTradeSec,
  createReadLiveOrders,
  createReadOpenOrders,
  createReadOrder,
  createReadOrderHistory,
  createReadOrdersWithin,
  createReadProjectedSeq,
  createReadTerms,
  type BestPrices,
  type HistoryOrder,
  type HistoryPage,
  type LiveFilter,
  type StoredOrder,
  type PricesWithin,
} from './read-orders.js'
import { createReadLife, type OrderLife } from './read-life.js'
import { createReadMarks, createReadRates, type PricePage, type PriceRow } from './read-prices.js'
import {
  createReadFills,
  createReadTrades,
  createReadTradesWithin,
  type HistoryFill,
  type TradesWithin,
} from './read-trades.js'

/** Reads of the projection that the gateway needs, one file for each topic. A read never blocks on the projector. */
export interface ReadModel {
  /** Runs reads of one state of the projection; `read` must not wait for anything. */
  atOnce<Found>(read: () => Found): Found
  /** Highest projected feed `seq` of the market; 0 before the first. */
  projectedSeq(market: string): number
  /** What the market's feed last stated of it; undefined before that. */
  terms(market: string): MarketTerms | undefined
  /** The same of each market that has ever been projected. */
  allTerms(): MarketTerms[]
  order(orderId: string): StoredOrder | undefined
  /** Orders with an open amount, bids and then asks, best first; `depth` limits each side. */
  openOrders(market: string, depth?: number): OpenOrder[]
  /**
   * Those of one side at these prices, best first, at most `limit`. Each is read when it is asked for: of one state only within
   * `atOnce`.
   */
  ordersWithin(market: string, side: Side, prices: PricesWithin, limit: number): Iterable<OpenOrder>
  /** The whole book in one state of the projection, with the contents only of orders that `isKnown` denies. */
  book(market: string, isKnown: IsKnown): BookState
  bestPrices(market: string): BestPrices
  /** The best `depth` price levels of each side, with the `seq` of the newest change that they include. Each state is read once. */
  levelsNow(market: string, depth: number): LevelsNow
  /** Newest first, strictly below `beforeTradeId` when given. */
  trades(market: string, limit: number, beforeTradeId?: number): Trade[]
  /** Trades of a side and a range of time, newest first. */
  tradesWithin(market: string, page: TradesWithin): Trade[]
  /** Price of the newest fill at any age. */
  lastPrice(market: string): PriceE18 | undefined
  /** An owner's orders over all markets, newest first. */
  orderHistory(owner: Address, page: HistoryPage): HistoryOrder[]
  /** Those that are active or matching, newest first. */
  liveOrders(owner: Address, page: HistoryPage, filter?: LiveFilter): HistoryOrder[]
  /** Fills of an owner's orders over all markets, newest first; one row for each order's leg of a trade. */
  fills(owner: Address, page: HistoryPage): HistoryFill[]
  /** What the chain closed of an owner's accounts over all markets, newest first. */
  closeOuts(owner: Address, page: HistoryPage): HistoryCloseOut[]
  /** Liquidations of a market or an account, or of all, newest first. */
  liquidations(page: HistoryPage, filter: LiquidationFilter): HistoryLiquidation[]
  /** What happened to an order that was placed then, unix milliseconds. */
  orderLife(order: Pick<Order, 'orderId' | 'owner'>, placedAtMs: number): OrderLife
  /** What an account's fills of a market add up to; undefined without any, and where no positions are kept. */
  positionEntry(market: string, subaccountId: bigint): PositionEntry | undefined
  /** Oldest first; buckets without trades are absent. */
  candles(market: string, range: CandleRange): Candle[]
  /** Marks of a market as the chain showed them, newest first. */
  marks(market: string, page: PricePage): PriceRow[]
  /** Its funding rates, newest first. */
  fundingRates(market: string, page: PricePage): PriceRow[]
  /** Undefined when nothing traded. */
  stats24h(market: string, nowMs: number): TradeStats | undefined
  /** Unix seconds of the newest fill. */
  lastTradeSec(market: string): number | undefined
  close(): void
}

/**
 * The projector has not yet created the file, or not yet migrated it to this build's schema; the caller retries later.
 */
export class ReadModelAbsent extends Error {
  override readonly name = 'ReadModelAbsent'
}

/** The file is there, and the system does not let this user read it. */
export class ReadModelNotShared extends CannotStart {
  override readonly name = 'ReadModelNotShared'
  constructor(path: string, options?: ErrorOptions) {
    const why = 'its reader needs the group of its directory, which may write there'
    super(`${path} may not be opened by this user: ${why} (docs/operating/tmpfiles.conf)`, options)
  }
}

/**
 * Opens history.db for reading while the projector writes to it. Throws ReadModelNotShared, and ReadModelAbsent when there is no such file or
 * the projector has not migrated it yet, UnknownSchemaVersion when a newer release wrote it.
 */
export function openReadModel(path: string): ReadModel {
  const db = openForReading(path)
  const inOneState = db.transaction((read: () => unknown) => read())
  return {
    atOnce: <Found>(read: () => Found) => inOneState(read) as Found,
    projectedSeq: createReadProjectedSeq(db),
    terms: createReadTerms(db),
    allTerms: createReadAllTerms(db),
    order: createReadOrder(db),
    openOrders: createReadOpenOrders(db),
    ordersWithin: createReadOrdersWithin(db),
    book: createReadBook(db),
    bestPrices: createReadBestPrices(db),
    levelsNow: createReadLevelsNow(db),
    orderHistory: createReadOrderHistory(db),
    liveOrders: createReadLiveOrders(db),
    fills: createReadFills(db),
    closeOuts: createReadCloseOuts(db),
    liquidations: createReadLiquidations(db),
    orderLife: createReadLife(db),
    positionEntry: createReadEntry(db),
    candles: createReadCandles(db),
    marks: createReadMarks(db),
    fundingRates: createReadRates(db),
    trades: createReadTrades(db),
    tradesWithin: createReadTradesWithin(db),
    stats24h: createReadStats24h(db),
    lastTradeSec: createReadLastTradeSec(db),
    lastPrice: createReadLastPrice(db),
    close: () => void db.close(),
  }
}

const damagedFor = (path: string, cause?: unknown): ReadModelAbsent =>
  new ReadModelAbsent(`${path} is damaged: the projector makes it anew when it starts`, { cause })

/** The file as the projector has made it. Throws what `openReadModel` does. */
export function openForReading(path: string): Database.Database {
  if (!mayLookInto(dirname(path))) throw new ReadModelNotShared(path)
  if (!existsSync(path)) throw new ReadModelAbsent(`${path} does not exist yet`)
  if (isNotedDamaged(path)) throw damagedFor(path)
  const migrations = HISTORY_MIGRATIONS
  try {
    if (schemaVersion(path) === 0) throw new ReadModelAbsent(`${path} is being made`)
    return openDatabase({ path, migrations, synchronous: 'NORMAL', readonly: true })
  } catch (error) {
    // One that is being set aside is gone for a moment.
    if (isUnopened(error) && existsSync(path)) throw new ReadModelNotShared(path, { cause: error })
    if (isUnopened(error)) throw new ReadModelAbsent(`${path} does not exist yet`, { cause: error })
    if (isDamage(error) || error instanceof DamagedDatabase) throw damagedFor(path, error)
    // Each migration is a transaction of its own, and the projector may die between two of them.
    if (!(error instanceof UnknownSchemaVersion) || error.found > error.known) throw error
    throw new ReadModelAbsent(`${path} is being brought up to date`, { cause: error })
  }
}

const isUnopened = (error: unknown): boolean =>
  error instanceof Database.SqliteError && /^SQLITE_(CANTOPEN|READONLY_DIRECTORY)/.test(error.code)

/** 0 until the projector's first migration is committed. */
function schemaVersion(path: string): number {
  const db = new Database(path, { readonly: true, fileMustExist: true })
  try {
    return Number(db.pragma('user_version', { simple: true }))
  } finally {
    db.close()
  }
}
