import type { Database } from 'better-sqlite3'

/** Schema of keeper.db, which holds this alone. */
export const KEEPER_MIGRATIONS = new URL('../../data/migrations/keeper/', import.meta.url)

const HOUR_MS = 3_600_000

/** Gas cost of the last hour, from receipts; survives restarts. Bounded by the hour's budget. */
export interface GasSpent {
  /** Records a transaction's cost; a repeated call for the same transaction has no effect. */
  record(txHash: string, costWei: bigint, nowMs: number): void
  /** In wei. */
  withinHour(nowMs: number): bigint
}

/** Uses an open database that has the table. */
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
