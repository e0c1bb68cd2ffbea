import Sqlite from 'better-sqlite3'
import { readFileSync } from 'node:fs'
import type { Claim } from '../../data/intake-registry.js'

/** Migrations of release 0.2.0. */
const MIGRATIONS = [
  ...['001-registry', '002-watched-from', '003-claims-in-outbox', '004-terms-of-markets'],
]

/** A message of its outbox. */
export interface OutboxRow {
  readonly lastNo: number
  readonly market: string
  readonly payload: Uint8Array
  readonly claims: readonly Claim[]
}

/** Writes an `intake.db` as release 0.2.0 left it when it was killed. */
export function writeOldRegistry(path: string, outbox: readonly OutboxRow[]): void {
  const db = new Sqlite(path)
  for (const name of MIGRATIONS) {
    const file = new URL(`../../../data/migrations/intake/${name}.sql`, import.meta.url)
    db.exec(readFileSync(file, 'utf8'))
  }
  db.pragma(`user_version = ${MIGRATIONS.length}`)
  const keep = db.prepare('INSERT INTO outbox VALUES (?, ?, ?, ?)')
  for (const { lastNo, market, payload, claims } of outbox) {
    const fields = claims.map(({ orderId, owner, nonce, fingerprint }) => [
      ...[orderId, owner, String(nonce), Buffer.from(fingerprint).toString('base64')],
    ])
    keep.run(lastNo, market, payload, JSON.stringify(fields))
  }
  db.close()
}
