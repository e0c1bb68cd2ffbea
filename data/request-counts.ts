import type { Database } from 'better-sqlite3'
import { exactNumber } from '../core/decimal.js'

/** Requests of either sort that are remembered at most; what comes beyond is not counted until some are forgotten. */
export const MAX_COUNTED_REQUESTS = 50_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** Requests of the last minute by whom they count against; survives restarts. */
export interface RequestCounts {
  /** Unix milliseconds of each, ascending. */
  within(countedBy: string, nowMs: number): number[]
  count(countedBy: string, nowMs: number): void
}

/**
 * In a transfer database that is open. Owners, whose signatures held, and network addresses are counted apart, so that
 * a flood of one sort does not make the other forgotten.
 */
export function createRequestCounts(db: Database, whose: 'owner' | 'client'): RequestCounts {
  const within = db
    .prepare<[string, string, number], bigint>(
      `SELECT at_ms FROM requests
       WHERE whose = ? AND counted_by = ? AND at_ms > ? ORDER BY at_ms`,
    )
    .pluck()
  const prune = db.prepare<[number]>('DELETE FROM requests WHERE at_ms <= ?')
  const add = db.prepare<[string, string, number, string, number]>(
    `INSERT INTO requests (whose, counted_by, at_ms) SELECT ?, ?, ?
     WHERE (SELECT count(*) FROM requests WHERE whose = ?) < ?`,
  )
  const count = db.transaction((countedBy: string, nowMs: number) => {
    prune.run(nowMs - MINUTE_MS)
    add.run(whose, countedBy, nowMs, whose, MAX_COUNTED_REQUESTS)
  })
  return {
    within: (countedBy, nowMs) => within.all(whose, countedBy, nowMs - MINUTE_MS).map(exactNumber),
    count: (countedBy, nowMs) => void count.immediate(countedBy, nowMs),
  }
}

/** What gas was paid in the last hour, by receipts; survives restarts. Bounded by what the hour's budget lets through. */
export interface GasSpent {
  /** A transaction counts once, however often it is told. */
  record(txHash: string, costWei: bigint, nowMs: number): void
  /** In wei. */
  withinHour(nowMs: number): bigint
}

/** In a transfer database that is open. */
export function createGasSpent(db: Database): GasSpent {
  const prune = db.prepare<[number]>('DELETE FROM gas_spent WHERE at_ms <= ?')
  const add = db.prepare<[Buffer, number, string]>(
    `INSERT INTO gas_spent (tx_hash, at_ms, wei) VALUES (?, ?, ?)
     ON CONFLICT (tx_hash) DO UPDATE SET wei = excluded.wei`,
  )
  const within = db.prepare<[number], string>('SELECT wei FROM gas_spent WHERE at_ms > ?').pluck()
  const record = db.transaction((txHash: string, costWei: bigint, nowMs: number) => {
    prune.run(nowMs - HOUR_MS)
    add.run(Buffer.from(txHash.slice(2), 'hex'), nowMs, costWei.toString())
  })
  return {
    record: (txHash, costWei, nowMs) => void record.immediate(txHash, costWei, nowMs),
    withinHour: (nowMs) => within.all(nowMs - HOUR_MS).reduce((sum, wei) => sum + BigInt(wei), 0n),
  }
}
