import type { Database } from 'better-sqlite3'
import { logKey } from '../data/log-key.js'
import { CHAIN_BLOCKS_A_DAY, DAY_MS, type DayCounts, NUMBERS_A_DAY } from './history-traffic.js'

/** Days of one transaction: few enough that what they write fits the cache, and goes to the file in its order. */
const DAYS_AT_ONCE = 10

/**
 * Writes the rows of so many more days behind those of the first, which must be all that the read model holds: the same
 * rows in the same order, moved on to each day's numbers, times and texts as the projector would have written them.
 * Which tables and columns there are is asked of the schema; a column that no rule below moves on is copied.
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

/** How far a day's values lie from those of the first, by parameter; a number that is no bigint would come as REAL. */
function movesOf(day: number, { seqs, ranks }: DayCounts): Record<string, bigint> {
  return {
    seqs: BigInt(day * seqs),
    keys: BigInt(logKey(day * seqs, 0)),
    ranks: BigInt(day * ranks),
    ms: BigInt(day * DAY_MS),
    seconds: BigInt((day * DAY_MS) / 1_000),
    blocks: BigInt(day * CHAIN_BLOCKS_A_DAY),
    numbers: BigInt(day * NUMBERS_A_DAY),
  }
}

/** An order's number stands in its id; in its body also as a part of its nonce, and in sixteens in its signature. */
const NUMBER = 'CAST(substr(order_id, -12) AS INTEGER)'
const moved = (format: string, number: string): string =>
  `printf('${format}', ${number}), printf('${format}', ${number} + @numbers)`

const KEYS = ['order_key', 'maker_order_key', 'taker_order_key', 'trade_id', 'fill_key']
const RULES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(KEYS.map((column) => [column, `${column} + @keys`])),
  first_trade_id: 'first_trade_id + @keys',
  last_trade_id: 'last_trade_id + @keys',
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

/** Puts a table's rows of the first day aside, and gives the statement that writes them moved on. */
function createCopy(db: Database, table: string): string {
  const columns = columnsOf(db, table)
  // The last column of a key is the one that grows with the feed.
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

/** All but the one that says how far each market is. */
function tablesOf(db: Database): string[] {
  return db
    .prepare<[], string>(
      `SELECT name FROM main.sqlite_schema
       WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'markets'`,
    )
    .pluck()
    .all()
}
