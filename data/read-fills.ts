import type { Database } from 'better-sqlite3'
import type { Address } from '../core/action.js'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'
import type { Side } from '../core/order.js'
import type { OwnFill } from '../core/records/fill-record.js'
import { blobOf, hexOf } from './bytes.js'
import { boundsOf } from './history-page.js'
import type { HistoryPage, HistoryPosition } from './history-page.js'

/** A fill of somebody's history, and where the next page goes on after it. */
export interface HistoryFill extends OwnFill {
  readonly market: string
  readonly position: HistoryPosition
}

/**
 * The query behind fills: the page's legs as they lie side by side. Whether one was reversed says an index of those that
 * were, since the trades themselves lie all over the history.
 */
export const FILLS_SQL = `
  SELECT fill_key AS fillKey, trade_id AS tradeId, order_id AS orderId, markets.market, liquidity, side,
    price, amount, fee, at_ms AS atMs, tx_hash AS txHash,
    EXISTS (
      SELECT 1 FROM trades INDEXED BY trades_reversed
      WHERE trades.trade_id = fills.trade_id AND reversed_at_ms IS NOT NULL
    ) AS reversed
  FROM fills JOIN markets USING (market_id)
  WHERE owner = ? AND (at_ms, fill_key) < (?, ?)
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
  readonly reversed: 0 | 1
}

/** What an owner's orders traded, one row for each order's leg, newest first. Costs the page, however far back. */
export function createReadFills(db: Database) {
  const select = db
    .prepare<[Buffer, number, number, number], FillRow>(FILLS_SQL)
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
    ...(row.reversed === 0 ? {} : { reversed: true }),
    market: row.market,
    position: { atMs: row.atMs, key: row.fillKey },
  }
}
