import type { Database } from 'better-sqlite3'
import type { Address } from '../../core/action.js'
import type { Side } from '../../core/model/order.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'
import type { OwnFill, Trade } from '../../core/records/trade-record.js'
import { blobOf, hexOf, seqOfKey } from '../row-values.js'
import { boundsOf, type HistoryPage, type HistoryPosition } from './read-orders.js'

const TRADES = `
  SELECT trade_id AS tradeId, fill_key AS fillKey, at_ms AS atMs, settlement_id AS settlementId,
    maker.order_id AS makerOrderId, taker.order_id AS takerOrderId, taker_side AS takerSide,
    price, amount, taker_fee AS takerFee, tx_hash AS txHash, block_number AS blockNumber,
    mark_price AS markPrice, reversed_at_ms AS reversedAtMs
  FROM trades
    JOIN orders AS maker ON maker.order_key = maker_order_key
    JOIN orders AS taker ON taker.order_key = taker_order_key`

/** SQL of trades: the page's rows through the market's index, then their orders by key. */
export const TRADES_SQL = `${TRADES}
  WHERE trades.market_id = (SELECT market_id FROM markets WHERE market = ?) AND trade_id < ?
  ORDER BY trade_id DESC
  LIMIT ?`

interface TradeRow {
  readonly tradeId: number
  readonly fillKey: number
  readonly atMs: number
  readonly settlementId: string
  readonly makerOrderId: string
  readonly takerOrderId: string
  readonly takerSide: Side
  readonly price: string
  readonly amount: string
  readonly takerFee: string
  readonly txHash: Buffer
  readonly blockNumber: number
  readonly markPrice: string | null
  readonly reversedAtMs: number | null
}

/** A market's newest trades, newest first, strictly below `beforeTradeId` when given. */
export function createReadTrades(db: Database) {
  const select = db.prepare<[string, number, number], TradeRow>(TRADES_SQL).safeIntegers(false)
  return (market: string, limit: number, beforeTradeId = Number.MAX_SAFE_INTEGER): Trade[] =>
    select.all(market, beforeTradeId, limit).map(tradeOf)
}

/** SQL of tradesWithin: of one side, in the order of the index, which is that of the trade ids. */
export const TRADES_WITHIN_SQL = `${TRADES}
  WHERE trades.market_id = (SELECT market_id FROM markets WHERE market = ?) AND taker_side = ?
    AND at_ms >= ? AND at_ms < ? AND +trade_id < ? AND (reversed_at_ms IS NULL OR ?)
  ORDER BY at_ms DESC, trade_id DESC
  LIMIT ?`

/** The newest `limit` trades in [fromMs, endMs), unix milliseconds, that stand. */
export interface TradesWithin {
  readonly limit: number
  /** Only of takers of this engine side. */
  readonly takerSide?: Side | undefined
  readonly fromMs?: number | undefined
  readonly endMs?: number | undefined
  /** Only trades with a lower id; it need not be that of a trade of the market. */
  readonly beforeTradeId?: number | undefined
  /** Those that were reversed too. */
  readonly isWithReversed?: boolean
}

const SIDES: readonly Side[] = ['buy', 'sell']

/** SQL of where a page of tradesWithin begins: the time of the market's newest trade below an id. */
export const NEWEST_BELOW_SQL = `
  SELECT at_ms FROM trades
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?) AND trade_id < ?
  ORDER BY trade_id DESC
  LIMIT 1`

/** A market's trades, newest first. The cost does not depend on how old the page is. */
export function createReadTradesWithin(db: Database) {
  const select = db.prepare<unknown[], TradeRow>(TRADES_WITHIN_SQL).safeIntegers(false)
  const selectTime = db
    .prepare<[string, number], number>(NEWEST_BELOW_SQL)
    .pluck()
    .safeIntegers(false)
  return (market: string, page: TradesWithin): Trade[] => {
    const { limit, takerSide, fromMs = 0, endMs = Number.MAX_SAFE_INTEGER } = page
    const { beforeTradeId = Number.MAX_SAFE_INTEGER, isWithReversed = false } = page
    // The page begins at its first trade: the index is searched from there, whatever is newer.
    const newestMs = selectTime.get(market, beforeTradeId)
    if (newestMs === undefined) return []
    const pageEndMs = Math.min(endMs, newestMs + 1)
    const sides = takerSide === undefined ? SIDES : [takerSide]
    const bounds = [fromMs, pageEndMs, beforeTradeId, isWithReversed ? 1 : 0, limit]
    return sides
      .flatMap((side) => select.all(market, side, ...bounds))
      .sort((a, b) => b.tradeId - a.tradeId)
      .slice(0, limit)
      .map(tradeOf)
  }
}

/** SQL of tradesBetween: the page's rows through the market's index. */
export const TRADES_BETWEEN_SQL = `${TRADES}
  WHERE trades.market_id = (SELECT market_id FROM markets WHERE market = ?) AND trade_id > ?
    AND trade_id < ?
  ORDER BY trade_id
  LIMIT ?`

/** The oldest `limit` trades between two ids, neither included; those that were reversed too. */
export interface TradesBetween {
  readonly afterTradeId: number
  readonly beforeTradeId: number
  readonly limit: number
}

/** A market's trades, oldest first. */
export function createReadTradesBetween(db: Database) {
  const select = db
    .prepare<[string, number, number, number], TradeRow>(TRADES_BETWEEN_SQL)
    .safeIntegers(false)
  return (market: string, { afterTradeId, beforeTradeId, limit }: TradesBetween): Trade[] =>
    select.all(market, afterTradeId, beforeTradeId, limit).map(tradeOf)
}

/** SQL of firstTradeSince, of one side. */
export const FIRST_SINCE_SQL = `
  SELECT trade_id FROM trades
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?) AND taker_side = ? AND at_ms >= ?
  ORDER BY at_ms, trade_id
  LIMIT 1`

/** Id of a market's first trade from a time on, unix milliseconds; undefined while there is none. Ids rise with the time. */
export function createReadFirstTradeSince(db: Database) {
  const select = db
    .prepare<[string, Side, number], number>(FIRST_SINCE_SQL)
    .pluck()
    .safeIntegers(false)
  return (market: string, sinceMs: number): number | undefined => {
    const firsts = SIDES.flatMap((side) => select.get(market, side, sinceMs) ?? [])
    return firsts.length === 0 ? undefined : Math.min(...firsts)
  }
}

function tradeOf(row: TradeRow): Trade {
  const takerFee = quoteE18(BigInt(row.takerFee))
  return {
    seq: seqOfKey(row.fillKey),
    atMs: row.atMs,
    ...(row.reversedAtMs === null ? {} : { reversed: true }),
    fill: {
      settlementId: row.settlementId,
      makerOrderId: row.makerOrderId,
      takerOrderId: row.takerOrderId,
      price: priceE18(BigInt(row.price)),
      amount: amountE18(BigInt(row.amount)),
      takerFee,
      liquidity: 'taker',
      fee: takerFee,
      txHash: hexOf(row.txHash),
      blockNumber: BigInt(row.blockNumber),
      tradeId: row.tradeId,
      takerSide: row.takerSide,
      ...(row.markPrice === null ? {} : { markPrice: priceE18(BigInt(row.markPrice)) }),
    },
  }
}

/** A fill of an owner's history, and the cursor of the next page after it. */
export interface HistoryFill extends OwnFill {
  readonly market: string
  readonly position: HistoryPosition
}

/**
 * SQL of fills: the legs of a page are adjacent in the table. A small index of the reversed trades shows which of them
 * were reversed; a look-up of each trade would read pages from all over the history.
 */
export const FILLS_SQL = `
  SELECT fill_key AS fillKey, trade_id AS tradeId, order_id AS orderId, markets.market, liquidity, side,
    price, amount, fee, at_ms AS atMs, tx_hash AS txHash, mark_price AS markPrice,
    EXISTS (
      SELECT 1 FROM trades INDEXED BY trades_reversed
      WHERE trades.trade_id = fills.trade_id AND reversed_at_ms IS NOT NULL
    ) AS reversed
  FROM fills JOIN markets USING (market_id)
  WHERE owner = ? AND (at_ms, fill_key) < (?, ?)
    AND at_ms >= ?
  ORDER BY at_ms DESC, fill_key DESC
  LIMIT ?`

interface FillRow {
  readonly fillKey: number
  readonly tradeId: number
  readonly orderId: string
  readonly market: string
  readonly liquidity: 'maker' | 'taker'
  readonly side: Side
  readonly price: string
  readonly amount: string
  readonly fee: string
  readonly atMs: number
  readonly txHash: Buffer
  readonly markPrice: string | null
  readonly reversed: 0 | 1
}

/**
 * Fills of an owner's orders, one row for each order's leg, newest first. The cost of a page does not depend on how old
 * it is.
 */
export function createReadFills(db: Database) {
  const select = db
    .prepare<[Buffer, number, number, number, number], FillRow>(FILLS_SQL)
    .safeIntegers(false)
  return (owner: Address, page: HistoryPage): HistoryFill[] =>
    select.all(blobOf(owner), ...boundsOf(page), page.limit).map(fillOf)
}

function fillOf(row: FillRow): HistoryFill {
  return {
    tradeId: row.tradeId,
    orderId: row.orderId,
    liquidity: row.liquidity,
    side: row.side,
    price: priceE18(BigInt(row.price)),
    amount: amountE18(BigInt(row.amount)),
    fee: quoteE18(BigInt(row.fee)),
    atMs: row.atMs,
    txHash: hexOf(row.txHash),
    ...(row.markPrice === null ? {} : { markPrice: priceE18(BigInt(row.markPrice)) }),
    ...(row.reversed === 0 ? {} : { reversed: true }),
    market: row.market,
    position: { atMs: row.atMs, key: row.fillKey },
  }
}
