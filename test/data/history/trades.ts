import type { Database } from 'better-sqlite3'
import { notionalFloor } from '../../../core/contracts/fees.js'
import type { AmountE18, PriceE18 } from '../../../core/money.js'
import { createCandleWriter } from '../../../data/history/write-candles.js'

export interface PlainTrade {
  readonly atMs: number
  readonly price: PriceE18
  readonly amount: AmountE18
}

/**
 * Writes trades of a market, in order of time and numbered 1, 2, …, with their candles, all between the same two
 * orders, which it makes: a long history without the orders that would have made it.
 */
export function writeTrades(
  db: Database,
  { ordinal, trades }: { readonly ordinal: number; readonly trades: readonly PlainTrade[] },
): void {
  const candles = createCandleWriter(db)
  const insertOrder = db.prepare(
    `INSERT INTO orders (order_key, market_id, order_id, owner, created_at_ms, body)
     VALUES (?, ?, ?, ?, 0, '{}')`,
  )
  const insertTrade = db.prepare(
    `INSERT INTO trades (trade_id, fill_key, market_id, at_ms, settlement_id, maker_order_key, taker_order_key,
       taker_side, price, amount, taker_fee, tx_hash, block_number, quote)
     VALUES (?, ?, ?, ?, 's', ?, ?, 'buy', ?, ?, '0', x'00', 1, ?)`,
  )
  db.transaction(() => {
    candles.begin()
    const keys = [1, 2].map((side) => side * 65_536 + ordinal)
    for (const key of keys) {
      insertOrder.run(key, ordinal, `order ${key}`, Buffer.alloc(20, ordinal))
    }
    for (const [index, { atMs, price, amount }] of trades.entries()) {
      const tradeId = (index + 3) * 65_536 + ordinal
      const quote = notionalFloor(price, amount)
      insertTrade.run(
        ...[tradeId, tradeId, ordinal, atMs, ...keys, String(price), String(amount), String(quote)],
      )
      candles.add(ordinal, { atMs, tradeId, price, amount, quote })
    }
    candles.flush()
  })()
}
