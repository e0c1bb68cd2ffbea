import type { Database } from 'better-sqlite3'
import { withOrdinal } from '../core/engine/trade-id.js'
import { logKey } from '../data/row-values.js'
import { CHAIN_BLOCKS_A_DAY, DAY_MS, NUMBERS_A_DAY, type DayCounts } from './history-traffic.js'

/** Days per transaction: few enough that their pages fit the cache and are written to the file in order. */
const DAYS_AT_ONCE = 10

/**
 * Appends copies of the first day, which must be the only one in the read model, for `days` further days: the same rows
 * in the same order, with numbers, times and texts shifted as the projector would have written them. Tables and columns
 * are read from the schema; a column without a rule below is copied unchanged.
 */
export function copyDays(db: Database, days: number, counts: DayCounts): void {
  db.pragma('temp_store = MEMORY')
  const inserts = tablesOf(db).map((table) => db.prepare(createCopy(db, table)))
  const write = db.transaction((from: number, to: number): void => {
    for (let day = from; day < to; day += 1) {
      for (const insert of inserts) insert.run(movesOf(day, counts))
    }
  })
  for (let day = 1; day <= days; day += DAYS_AT_ONCE) {
    write(day, Math.min(day + DAYS_AT_ONCE, days + 1))
  }
  db.prepare('UPDATE markets SET stream_seq = stream_seq + ?, feed_seq = feed_seq + ?').run(
    BigInt(days * counts.blocks),
    BigInt(days * counts.seqs),
  )
}

/**
 * Offsets of a day's values from the first day's, by parameter; as bigint, because SQLite would store a number as REAL.
 */
function movesOf(day: number, { seqs, ranks, trades }: DayCounts): Record<string, bigint> {
  return {
    seqs: BigInt(day * seqs),
    keys: BigInt(logKey(day * seqs, 0)),
    trades: BigInt(withOrdinal(day * trades, 0)),
    ranks: BigInt(day * ranks),
    ms: BigInt(day * DAY_MS),
    seconds: BigInt((day * DAY_MS) / 1_000),
    blocks: BigInt(day * CHAIN_BLOCKS_A_DAY),
    numbers: BigInt(day * NUMBERS_A_DAY),
  }
}

/**
 * An order's number is part of its id; in its body it is also part of its nonce and, in hexadecimal, of its signature.
 */
const NUMBER = 'CAST(substr(order_id, -12) AS INTEGER)'
const moved = (format: string, number: string): string =>
  `printf('${format}', ${number}), printf('${format}', ${number} + @numbers)`

const KEYS = ['order_key', 'maker_order_key', 'taker_order_key', 'fill_key']
const RULES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(KEYS.map((column) => [column, `${column} + @keys`])),
  trade_id: 'trade_id + @trades',
  first_trade_id: 'first_trade_id + @trades',
  last_trade_id: 'last_trade_id + @trades',
  updated_seq: 'updated_seq + @seqs',
  rank: 'rank + @ranks',
  start_sec: 'start_sec + @seconds',
  block_number: 'block_number + @blocks',
  order_id: `replace(order_id, ${moved('%012d', NUMBER)})`,
  body: `replace(replace(body, ${moved('%012d', NUMBER)}), ${moved('%x', NUMBER)})`,
  settlement_id: `substr(settlement_id, 1, instr(settlement_id, ':'))
    || (substr(settlement_id, instr(settlement_id, ':') + 1) + @seqs)`,
  tx_hash: `unhex(substr(hex(tx_hash), 1, 52) || printf('%012d', substr(hex(tx_hash), 53) + @numbers))`,
}

const ruleOf = (column: string): string =>
  RULES[column] ?? (column.endsWith('_at_ms') || column === 'at_ms' ? `${column} + @ms` : column)

/**
 * Copies a table's rows of the first day into a temporary table, and returns the statement that writes them shifted.
 */
function createCopy(db: Database, table: string): string {
  const columns = columnsOf(db, table)
  // The last column of a key grows with the feed.
  const key = columns.reduce((last, column) => (column.pk > last.pk ? column : last))
  db.exec(`CREATE TEMP TABLE day_${table} AS SELECT * FROM main.${table} ORDER BY ${key.name}`)
  return `INSERT INTO main.${table} (${columns.map(({ name }) => name).join()})
    SELECT ${columns.map(({ name }) => ruleOf(name)).join()} FROM temp.day_${table} ORDER BY rowid`
}

function columnsOf(db: Database, table: string) {
  return db
    .prepare<[string], { name: string; pk: bigint }>('SELECT name, pk FROM pragma_table_info(?)')
    .all(table)
}

/** All tables except that of the markets' positions. */
function tablesOf(db: Database): string[] {
  return db
    .prepare<[], string>(
      `SELECT name FROM main.sqlite_schema
       WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'markets'`,
    )
    .pluck()
    .all()
}
