import type { Database } from 'better-sqlite3'
import { crash } from '../core/crash-point.js'
import type { LandedClaim } from './recent-claims.js'

/** Rows that are stored together, as they pass to the thread. */
export interface ClaimBatch {
  /** Order id, owner, nonce in base 10, market, fingerprint in base64. */
  readonly claims: readonly (readonly [string, string, string, string, string])[]
  /** Up to where the log of each market was folded when the last of these claims was. */
  readonly positions: readonly (readonly [market: string, LogPosition])[]
}

/** Pages of the write-ahead log, 16 MiB, at which they go into the file: claims are random keys, and gather on pages until then. */
export const CHECKPOINT_PAGES = 4_096

export const batchOf = (
  landed: readonly LandedClaim[],
  positions: ReadonlyMap<string, LogPosition>,
): ClaimBatch => ({
  claims: landed.map(({ market, claim: { orderId, owner, nonce, fingerprint } }) => [
    ...([orderId, owner, nonce.toString(), market] as const),
    Buffer.from(fingerprint).toString('base64'),
  ]),
  positions: [...positions],
})

/** Stores batches in `intake.db`, each in one transaction: a position is never ahead of the claims before it. */
export function prepareClaimWriter(db: Database): (batch: ClaimBatch) => void {
  const take = db.prepare(
    'INSERT INTO taken_order (order_id, owner, nonce, market, fingerprint) VALUES (?, ?, ?, ?, ?)',
  )
  const advance = db.prepare(
    `INSERT INTO log_position (market, stream_seq, last_no) VALUES (?, ?, ?)
     ON CONFLICT (market) DO UPDATE SET stream_seq = excluded.stream_seq, last_no = excluded.last_no`,
  )
  const store = db.transaction(({ claims, positions }: ClaimBatch) => {
    for (const [orderId, owner, nonce, market, fingerprint] of claims) {
      take.run(orderId, owner, nonce, market, Buffer.from(fingerprint, 'base64'))
    }
    for (const [market, { streamSeq, lastNo }] of positions) advance.run(market, streamSeq, lastNo)
    crash('intake.in_store')
  })
  return (batch) => void store.immediate(batch)
}

/** Stores batches in a thread of its own, one at a time. */
export interface ClaimThread {
  /** Resolves once the batch is durable; rejects with DiskTrouble, and then nothing of it is stored. */
  write(batch: ClaimBatch): Promise<void>
  stop(): Promise<void>
}

/** A place in a market's command log. */
export interface LogPosition {
  readonly streamSeq: number
  /** The greatest number of a command of the intake up to there, 0 for none. */
  readonly lastNo: number
}
