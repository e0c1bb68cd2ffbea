import type Database from 'better-sqlite3'
import { closeSync, fsyncSync, openSync } from 'node:fs'
import type { Address } from '../core/action.js'
import { createProjection, HISTORY_FILE } from '../data/history/project.js'
import { openDatabase } from '../data/open.js'
import { benchMarket } from './bench-market.js'
import { copyDays } from './copy-days.js'
import { createTraffic, DAY_MS, FIRST_MIDNIGHT_MS } from './history-traffic.js'

/** Size of the page cache while rows are written, KiB. */
const CACHE_KIB = 262_144

export interface HistorySize {
  readonly days: number
  /** Orders of one day; a traded order is never deleted, so that all of them remain. */
  readonly pairsADay: number
}

export interface FilledHistory {
  readonly path: string
  readonly orders: number
  /** All owners have equally many orders, spread over the whole history. */
  readonly owners: readonly Address[]
  /** Duration from the first order to the last trade. */
  readonly atMs: readonly [from: number, to: number]
  readonly tradeIds: readonly [first: number, last: number]
}

/**
 * A read model with a history of `days` days and a book whose size does not depend on it: the projector writes the
 * first day and the last, and SQL copies the days between, because that is ten times as fast.
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

/** Writes every page once: the file is discarded if this process dies, and the copied rows satisfy the foreign keys. */
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

/** Waits for the kernel's pending writes, which would disturb the next measurement. */
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
