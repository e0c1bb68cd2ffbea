import Database from 'better-sqlite3'
import { orderText } from '../bus-schemas/orders.js'
import type { Change } from '../core/model/change.js'
import type { StreamedBlock } from '../data/history/project.js'
import { took } from './rounds.js'

const SCHEMA = `
  CREATE TABLE orders (
    order_id TEXT PRIMARY KEY, owner TEXT NOT NULL, nonce TEXT NOT NULL, market TEXT NOT NULL,
    side TEXT NOT NULL, limit_price TEXT NOT NULL, desired TEXT NOT NULL, status TEXT NOT NULL,
    filled TEXT NOT NULL, pending TEXT NOT NULL, open TEXT NOT NULL, created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL, body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX orders_by_nonce ON orders (owner, nonce);
  CREATE INDEX orders_by_owner ON orders (owner, created_at);
  CREATE INDEX orders_by_market ON orders (market, status);
  CREATE TABLE fills (
    trade_id INTEGER NOT NULL, order_id TEXT NOT NULL, price TEXT NOT NULL, amount TEXT NOT NULL,
    fee TEXT NOT NULL, tx_hash TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (trade_id, order_id)
  ) WITHOUT ROWID;
  CREATE INDEX fills_by_order ON fills (order_id);`

/** Changes/s of the peer: orders with text ids as keys, and every change durable before the next is read. */
export async function projectRowByRow(
  path: string,
  blocks: readonly StreamedBlock[],
  most: number,
): Promise<number> {
  const db = new Database(path)
  try {
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.exec(SCHEMA)
    const apply = db.transaction(createWrites(db))
    const changes = blocks.flatMap(({ block }) => block.changes).slice(0, most)
    const { wallMs } = await took(() => {
      for (const change of changes) apply(change)
    })
    return (changes.length * 1000) / wallMs
  } finally {
    db.close()
  }
}

function createWrites(db: Database.Database): (change: Change) => void {
  const insertOrder = db.prepare(
    'INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const updateOrder = db.prepare(
    'UPDATE orders SET status = ?, filled = ?, pending = ?, open = ?, updated_at = ? WHERE order_id = ?',
  )
  const insertFill = db.prepare('INSERT INTO fills VALUES (?, ?, ?, ?, ?, ?, ?)')
  return (change) => {
    const at = new Date(change.atMs).toISOString()
    const amounts = [String(change.filled), String(change.pending), String(change.open)]
    if (change.kind === 'OrderPlaced') {
      const { order } = change
      const keys = [order.orderId, order.owner, String(order.nonce), order.market, order.side]
      const terms = [String(order.limitPrice), String(order.desiredAmount), change.status]
      insertOrder.run(...keys, ...terms, ...amounts, at, at, orderText.write(order))
      return
    }
    updateOrder.run(change.status, ...amounts, at, change.orderId)
    if (change.kind !== 'OrderFilled') return
    const { tradeId, price, amount, fee, txHash } = change.fill
    insertFill.run(tradeId, change.orderId, String(price), String(amount), String(fee), txHash, at)
  }
}

/** Rows of a table, in the order of its columns. */
interface TableRows {
  readonly insert: string
  readonly rows: readonly (readonly unknown[])[]
}

/** All rows of a database, to be inserted into an empty one of the same schema. */
export function readRows(db: Database.Database): TableRows[] {
  const names = db
    .prepare<[], string>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .pluck()
    .all()
  return names.map((name) => {
    const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck()
    const list = columns.all(name)
    const marks = list.map(() => '?').join(', ')
    return {
      insert: `INSERT OR REPLACE INTO "${name}" (${list.join(', ')}) VALUES (${marks})`,
      rows: db
        .prepare<[], unknown[]>(`SELECT ${list.join(', ')} FROM "${name}"`)
        .raw()
        .all(),
    }
  })
}

/** Inserts the rows in so many transactions, and nothing else; a row may come before the one that it refers to. */
export function insertRows(
  db: Database.Database,
  tables: readonly TableRows[],
  transactions: number,
): void {
  db.pragma('foreign_keys = OFF')
  const prepared = tables.map(({ insert, rows }) => ({ insert: db.prepare(insert), rows }))
  const part = db.transaction((from: number, to: number) => {
    for (const { insert, rows } of prepared) {
      const first = Math.floor(from * rows.length)
      const last = Math.floor(to * rows.length)
      for (const row of rows.slice(first, last)) insert.run(...row)
    }
  })
  for (let at = 0; at < transactions; at += 1) part(at / transactions, (at + 1) / transactions)
}
