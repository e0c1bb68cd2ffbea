import type { Database } from 'better-sqlite3'
import type { Address } from '../../core/action.js'
import { exactNumber } from '../../core/decimal.js'
import type { CloseOut } from '../../core/model/close-out.js'
import { priceE18 } from '../../core/money.js'
import type { OwnCloseOut } from '../../core/records/close-out-record.js'
import { blobOf, hexOf } from '../row-values.js'
import { boundsOf, type HistoryPage, type HistoryPosition } from './read-orders.js'

/** A close-out of an owner's history, and the cursor of the next page after it. */
export interface HistoryCloseOut extends OwnCloseOut {
  readonly market: string
  readonly position: HistoryPosition
}

/** Writes what the chain closed in a projected market; a close-out that is written again takes the place of the one before. */
export function createWriteCloseOuts(
  db: Database,
): (market: string, closed: readonly CloseOut[]) => void {
  const upsert = db.prepare(
    `INSERT INTO close_outs
       (market_id, subaccount_id, owner, at_ms, position, price, variation, tx_hash, block_number)
     VALUES ((SELECT market_id FROM markets WHERE market = ?), ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (market_id, subaccount_id) DO UPDATE SET owner = excluded.owner,
       at_ms = excluded.at_ms, position = excluded.position, price = excluded.price,
       variation = excluded.variation, tx_hash = excluded.tx_hash,
       block_number = excluded.block_number`,
  )
  const write = db.transaction((market: string, closed: readonly CloseOut[]) => {
    for (const { subaccountId, owner, position, price, variation, ...at } of closed) {
      upsert.run(
        ...[market, subaccountId.toString(), blobOf(owner), at.blockTimeSec * 1000],
        ...[position.toString(), price.toString(), variation.toString()],
        ...[blobOf(at.txHash), exactNumber(at.blockNumber)],
      )
    }
  })
  return (market, closed) => write.immediate(market, closed)
}

/** SQL of closeOuts. */
export const CLOSE_OUTS_SQL = `
  SELECT close_key AS closeKey, markets.market, subaccount_id AS subaccountId, at_ms AS atMs, position,
    price, variation, tx_hash AS txHash, block_number AS blockNumber
  FROM close_outs JOIN markets USING (market_id)
  WHERE owner = ? AND (at_ms, close_key) < (?, ?) AND at_ms >= ?
  ORDER BY at_ms DESC, close_key DESC
  LIMIT ?`

interface CloseOutRow {
  readonly closeKey: number
  readonly market: string
  readonly subaccountId: string
  readonly atMs: number
  readonly position: string
  readonly price: string
  readonly variation: string
  readonly txHash: Buffer
  readonly blockNumber: number
}

/** What the chain closed of an owner's accounts, newest first. */
export function createReadCloseOuts(db: Database) {
  const select = db
    .prepare<[Buffer, number, number, number, number], CloseOutRow>(CLOSE_OUTS_SQL)
    .safeIntegers(false)
  return (owner: Address, page: HistoryPage): HistoryCloseOut[] =>
    select.all(blobOf(owner), ...boundsOf(page), page.limit).map(closeOutOf)
}

const closeOutOf = ({ closeKey, market, atMs, ...row }: CloseOutRow): HistoryCloseOut => ({
  market,
  atMs,
  position: { atMs, key: closeKey },
  subaccountId: BigInt(row.subaccountId),
  size: BigInt(row.position),
  price: priceE18(BigInt(row.price)),
  variation: BigInt(row.variation),
  txHash: hexOf(row.txHash),
  blockNumber: row.blockNumber,
})
