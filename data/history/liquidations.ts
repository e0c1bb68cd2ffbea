import type { Database } from 'better-sqlite3'
import type {
  Liquidation,
  LiquidationEvent,
  LiquidationNews,
} from '../../core/contracts/liquidation.js'
import { exactNumber } from '../../core/decimal.js'
import { priceE18 } from '../../core/money.js'
import { blobOf, hexOf } from '../row-values.js'
import { boundsOf, type HistoryPage, type HistoryPosition } from './read-orders.js'

/** Writes the liquidations that the stream tells of. */
export interface LiquidationWriter {
  /** The last message that is written; 0 before the first. */
  position(): number
  /** Writes the next message's news with its position, in one transaction; an event that is written again stays as it is. */
  write(streamSeq: number, news: LiquidationNews): void
}

export function createLiquidationWriter(db: Database): LiquidationWriter {
  const select = db
    .prepare<[], number>('SELECT stream_seq FROM liquidation_cursor')
    .pluck()
    .safeIntegers(false)
  const move = db.prepare(
    `INSERT INTO liquidation_cursor (only, stream_seq) VALUES (1, ?)
     ON CONFLICT DO UPDATE SET stream_seq = excluded.stream_seq`,
  )
  const remove = db.prepare(
    'DELETE FROM liquidations WHERE market = ? AND block_hash = ? AND log_index = ?',
  )
  const insert = db.prepare(
    `INSERT INTO liquidations
       (market, block_hash, log_index, subaccount_id, at_ms, event, size, price, portion,
        by_subaccount_id, paid, received, tx_hash, block_number)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const write = db.transaction((streamSeq: number, { takenBack, added }: LiquidationNews) => {
    for (const { market, blockHash, logIndex } of takenBack)
      remove.run(market, blobOf(blockHash), logIndex)
    for (const one of added)
      insert.run(
        ...[one.market, blobOf(one.blockHash), one.logIndex, one.subaccountId.toString()],
        ...[one.blockTimeSec * 1_000, one.event, textOf(one.size), textOf(one.price)],
        ...[textOf(one.portion), textOf(one.bySubaccountId), textOf(one.paid)],
        ...[textOf(one.received), blobOf(one.txHash), exactNumber(one.blockNumber)],
      )
    move.run(streamSeq)
  })
  return {
    position: () => select.get() ?? 0,
    write: (streamSeq, news) => write.immediate(streamSeq, news),
  }
}

const textOf = (value: bigint | undefined): string | null => value?.toString() ?? null

/** A liquidation as the table has it, and the cursor of the next page after it. */
export interface HistoryLiquidation extends Liquidation {
  readonly position: HistoryPosition
}

/** Which liquidations are read; without both, those of all markets and accounts. */
export interface LiquidationFilter {
  readonly market?: string
  readonly subaccountId?: bigint
}

/** SQL of a page, newest first, by its filter. */
export const liquidationsSql = ({ market, subaccountId }: LiquidationFilter): string => `
  SELECT liquidation_key AS key, market, subaccount_id AS subaccountId, at_ms AS atMs, event, size,
    price, portion, by_subaccount_id AS bySubaccountId, paid, received, tx_hash AS txHash,
    block_hash AS blockHash, block_number AS blockNumber, log_index AS logIndex
  FROM liquidations
  WHERE (at_ms, liquidation_key) < (?, ?) AND at_ms >= ?
    ${subaccountId === undefined ? '' : 'AND subaccount_id = ?'}
    ${market === undefined ? '' : `AND ${subaccountId === undefined ? '' : '+'}market = ?`}
  ORDER BY at_ms DESC, liquidation_key DESC
  LIMIT ?`

interface LiquidationRow {
  readonly key: number
  readonly market: string
  readonly subaccountId: string
  readonly atMs: number
  readonly event: LiquidationEvent
  readonly size: string | null
  readonly price: string | null
  readonly portion: string | null
  readonly bySubaccountId: string | null
  readonly paid: string | null
  readonly received: string | null
  readonly txHash: Buffer
  readonly blockHash: Buffer
  readonly blockNumber: number
  readonly logIndex: number
}

/** Reads pages of liquidations, newest first. */
export function createReadLiquidations(db: Database) {
  const prepared = (filter: LiquidationFilter) =>
    db.prepare<(string | number)[], LiquidationRow>(liquidationsSql(filter)).safeIntegers(false)
  const all = prepared({})
  const ofMarket = prepared({ market: '' })
  const ofAccount = prepared({ subaccountId: 0n })
  const ofBoth = prepared({ market: '', subaccountId: 0n })
  return (page: HistoryPage, { market, subaccountId }: LiquidationFilter): HistoryLiquidation[] => {
    const ofOne = subaccountId === undefined ? ofMarket : ofBoth
    const select = market !== undefined ? ofOne : subaccountId !== undefined ? ofAccount : all
    const filters = [subaccountId?.toString(), market].filter((value) => value !== undefined)
    return select.all(...boundsOf(page), ...filters, page.limit).map(liquidationOf)
  }
}

function liquidationOf({ key, atMs, ...row }: LiquidationRow): HistoryLiquidation {
  const { size, price, portion, bySubaccountId, paid, received } = row
  return {
    market: row.market,
    event: row.event,
    logIndex: row.logIndex,
    position: { atMs, key },
    subaccountId: BigInt(row.subaccountId),
    ...(size !== null && { size: BigInt(size) }),
    ...(price !== null && { price: priceE18(BigInt(price)) }),
    ...(portion !== null && { portion: BigInt(portion) }),
    ...(bySubaccountId !== null && { bySubaccountId: BigInt(bySubaccountId) }),
    ...(paid !== null && { paid: BigInt(paid) }),
    ...(received !== null && { received: BigInt(received) }),
    txHash: hexOf(row.txHash),
    blockHash: hexOf(row.blockHash),
    blockNumber: BigInt(row.blockNumber),
    blockTimeSec: atMs / 1_000,
  }
}
