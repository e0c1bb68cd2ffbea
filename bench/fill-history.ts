import type Database from 'better-sqlite3'
import { orderText } from '../bus-schemas/order-wire.js'
import type { Address } from '../core/action.js'
import { createProjection } from '../data/apply-block.js'
import { HISTORY_MIGRATIONS } from '../data/history-database.js'
import { openDatabase } from '../data/open.js'
import { benchMarket } from './bench-market.js'
import { benchOrder } from './bench-orders.js'

/** Orders that are open, whatever lies behind them: the book's size is not that of the history. */
const OPEN_ORDERS = 1_000
/** Each has as many orders as any other, all through the history. */
const OWNERS = 100
const OWNER_HEAD = '7'.repeat(38)
const START_MS = 1_790_000_000_000
/** One order a second. */
const EVERY_MS = 1_000
/** Orders of one transaction. */
const CHUNK = 100_000

export const ownerOf = (owner: number): Address =>
  `0x${OWNER_HEAD}${owner.toString(16).padStart(2, '0')}`

export interface FilledHistory {
  readonly orders: number
  readonly trades: number
  readonly owners: number
  readonly path: string
}

/**
 * A read model with so many orders, as the projection would have written it: pairs that traded with each other, of owners
 * who take turns, and at the end those that are open. SQL writes the rows, because that is ten times as fast.
 */
export function fillHistory(path: string, orders: number): FilledHistory {
  const db = openDatabase({ path, migrations: HISTORY_MIGRATIONS, synchronous: 'NORMAL' })
  try {
    createProjection(db, [benchMarket()])
    db.pragma('foreign_keys = OFF')
    db.pragma('synchronous = OFF')
    db.pragma('cache_size = -262144')
    const writeChunk = createWriter(db, orders)
    for (let from = 0; from < orders; from += CHUNK) {
      writeChunk(BigInt(from), BigInt(Math.min(from + CHUNK, orders)))
    }
    writeCandles(db)
    db.exec('ANALYZE')
    db.pragma('wal_checkpoint(TRUNCATE)')
    return { orders, trades: (orders - OPEN_ORDERS) / 2, owners: OWNERS, path }
  } finally {
    db.close()
  }
}

/** Of order `i`, whose change is number 3 i + 1; orders 2 k and 2 k + 1 are maker and taker of a trade. */
const NUMBERS = `WITH RECURSIVE n(i) AS (SELECT @from UNION ALL SELECT i + 1 FROM n WHERE i + 1 < @to)`
const KEY = '((3 * i + 1) * 256)'
const OWNER = `unhex(printf('%s%02x', '${OWNER_HEAD}', i / 2 % ${OWNERS}))`
const AT_MS = `(${START_MS} + i * ${EVERY_MS})`
const SIDE = `CASE WHEN i % 2 = 0 THEN 'sell' ELSE 'buy' END`
/** A price of the walk: buyers below the middle and sellers above it, where they are open. */
const PRICE = `(CASE WHEN i % 2 = 0 THEN 6501 + i / 2 % 50 ELSE 6499 - i / 2 % 50 END || '00000000000')`
const AMOUNT = `'5000000000000000000000'`
const IS_OPEN = '(i >= @open)'

function createWriter(db: Database.Database, orders: number) {
  const body = orderText(benchOrder(TEMPLATE))
  const [before = '', after = ''] = body.split(benchOrder(TEMPLATE).orderId)
  const insertOrders = db.prepare(ORDERS_SQL)
  const others = [PROGRESS_SQL, TRADES_SQL, FILLS_SQL].map((sql) => db.prepare(sql))
  const open = BigInt(orders - OPEN_ORDERS)
  // Numbers would arrive as REAL.
  return db.transaction((from: bigint, to: bigint): void => {
    insertOrders.run({ from, to, before, after })
    for (const insert of others) insert.run({ from, to, open })
  })
}

const TEMPLATE = { number: 1, side: 'sell', price: 6_501, lots: 5 } as const

const ORDERS_SQL = `${NUMBERS}
  INSERT INTO orders (order_key, market_id, order_id, owner, created_at_ms, body)
  SELECT ${KEY}, 0, printf('order-%012d', i), ${OWNER}, ${AT_MS},
    @before || printf('order-%012d', i) || @after
  FROM n`

const PROGRESS_SQL = `${NUMBERS}
  INSERT INTO order_progress (order_key, market_id, side, limit_price, rank, status, filled, pending,
    open, filled_quote, updated_seq, updated_at_ms)
  SELECT ${KEY}, 0, ${SIDE}, ${PRICE}, i + 1,
    iif(${IS_OPEN}, 'active', 'filled'), iif(${IS_OPEN}, '0', ${AMOUNT}), '0',
    iif(${IS_OPEN}, ${AMOUNT}, '0'), iif(${IS_OPEN}, NULL, '3250000000000000000'), 3 * i + 1, ${AT_MS}
  FROM n`

const TRADES_SQL = `${NUMBERS}
  INSERT INTO trades (trade_id, market_id, at_ms, settlement_id, maker_order_key, taker_order_key,
    taker_side, price, amount, taker_fee, tx_hash, block_number)
  SELECT ${KEY} + 256, 0, ${AT_MS}, 'cNGN-USDC:' || (3 * i), ${KEY} - 768, ${KEY}, 'buy',
    ${PRICE}, ${AMOUNT}, '8125000000000000', unhex(printf('%064x', i)), 30000000 + i
  FROM n WHERE i % 2 = 1 AND i < @open`

const FILLS_SQL = `${NUMBERS}
  INSERT INTO fills (fill_key, trade_id, order_key, owner, liquidity, fee, at_ms)
  SELECT ${KEY} + iif(i % 2 = 1, 256, 768), ${KEY} + iif(i % 2 = 1, 256, 1024), ${KEY}, ${OWNER},
    iif(i % 2 = 1, 'taker', 'maker'), iif(i % 2 = 1, '8125000000000000', '0'), ${AT_MS}
  FROM n WHERE i < @open`

/** Candles of a day, which is what one question is about. */
function writeCandles(db: Database.Database): void {
  db.exec(`INSERT INTO candles
    SELECT 0, 3600, at_ms / 3600000 * 3600, price, price, price, price, amount, amount, count(*),
      min(trade_id), max(trade_id)
    FROM trades GROUP BY at_ms / 3600000`)
}
