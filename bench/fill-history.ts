import type Database from 'better-sqlite3'
import { closeSync, fsyncSync, openSync } from 'node:fs'
import type { Address } from '../core/action.js'
import { createProjection } from '../data/apply-block.js'
import { HISTORY_FILE } from '../data/history-database.js'
import { openDatabase } from '../data/open.js'
import { benchMarket } from './bench-market.js'
import { copyDays } from './copy-days.js'
import { createTraffic, DAY_MS, FIRST_MIDNIGHT_MS } from './history-traffic.js'

/** Of the page cache while rows are written, in KiB. */
const CACHE_KIB = 262_144

export interface HistorySize {
  readonly days: number
  /** Of one day; a traded order stays for ever, so that they are all there in the end. */
  readonly pairsADay: number
}

export interface FilledHistory {
  readonly path: string
  readonly orders: number
  /** Each has as many orders as any other, all through the history. */
  readonly owners: readonly Address[]
  /** From the first order to the last trade. */
  readonly atMs: readonly [from: number, to: number]
  readonly tradeIds: readonly [first: number, last: number]
}

/**
 * A read model with a history of so many days and a book of the same size behind any: the projector writes the first day
 * and the last, and SQL the days between, because it is ten times as fast.
 */
export function fillHistory(path: string, { days, pairsADay }: HistorySize): FilledHistory {
  const db = openDatabase({ path, ...HISTORY_FILE })
  try {
    const projection = createProjection(db, [benchMarket()])
    const traffic = createTraffic(pairsADay)
    projection.applyBatch(traffic.day(0))
    const owners = ownersIn(db)
    withoutLog(db, () => copyDays(db, days - 1, traffic.skip(days - 1)))
    const tradeIds = tradeIdsIn(db)
    projection.applyBatch(traffic.lastDay(days))
    db.pragma('wal_checkpoint(TRUNCATE)')
    const atMs = [FIRST_MIDNIGHT_MS, FIRST_MIDNIGHT_MS + days * DAY_MS] as const
    return { path, orders: 2 * days * pairsADay, owners, atMs, tradeIds }
  } finally {
    db.close()
    writeOut(path)
  }
}

/** Every page goes to the file once; nobody needs it if this process dies, and what the copy refers to is there. */
function withoutLog(db: Database.Database, work: () => void): void {
  setJournal(db, 'memory')
  db.pragma('synchronous = OFF')
  db.pragma('foreign_keys = OFF')
  db.pragma(`cache_size = -${CACHE_KIB}`)
  work()
  db.pragma('foreign_keys = ON')
  db.pragma('synchronous = NORMAL')
  setJournal(db, 'wal')
}

function setJournal(db: Database.Database, mode: 'memory' | 'wal'): void {
  const now = db.pragma(`journal_mode = ${mode}`, { simple: true })
  if (now !== mode) throw new Error(`the journal is ${String(now)} and does not become ${mode}`)
}

/** What the kernel still has to write would disturb what is measured next. */
function writeOut(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

function ownersIn(db: Database.Database): Address[] {
  return db
    .prepare<[], string>(`SELECT DISTINCT '0x' || lower(hex(owner)) FROM orders`)
    .pluck()
    .all() as Address[]
}

function tradeIdsIn(db: Database.Database): [first: number, last: number] {
  return db
    .prepare<[], [number, number]>('SELECT min(trade_id), max(trade_id) FROM trades')
    .safeIntegers(false)
    .raw()
    .get() as [number, number]
}
