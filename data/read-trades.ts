import type { Database } from 'better-sqlite3'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'
import type { Side } from '../core/order.js'
import type { Trade } from '../core/records/trade-record.js'
import { hexOf } from './bytes.js'
import { seqOfKey } from './log-key.js'

/** The query behind trades: the page's rows through the market's index, then their orders by key. */
export const TRADES_SQL = `
  SELECT trade_id AS tradeId, at_ms AS atMs, settlement_id AS settlementId,
    maker.order_id AS makerOrderId, taker.order_id AS takerOrderId, taker_side AS takerSide,
    price, amount, taker_fee AS takerFee, tx_hash AS txHash, block_number AS blockNumber,
    reversed_at_ms AS reversedAtMs
  FROM trades
    JOIN orders AS maker ON maker.order_key = maker_order_key
    JOIN orders AS taker ON taker.order_key = taker_order_key
  WHERE trades.market_id = (SELECT market_id FROM markets WHERE market = ?) AND trade_id < ?
  ORDER BY trade_id DESC
  LIMIT ?`

interface TradeRow {
  readonly tradeId: number
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
  readonly reversedAtMs: number | null
}

/** A market's newest trades, newest first, strictly below `beforeTradeId` when given. */
export function createReadTrades(db: Database) {
  const select = db.prepare<[string, number, number], TradeRow>(TRADES_SQL).safeIntegers(false)
  return (market: string, limit: number, beforeTradeId = Number.MAX_SAFE_INTEGER): Trade[] =>
    select.all(market, beforeTradeId, limit).map(tradeOf)
}

function tradeOf(row: TradeRow): Trade {
  const takerFee = quoteE18(BigInt(row.takerFee))
  return {
    seq: seqOfKey(row.tradeId),
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
    },
  }
}
