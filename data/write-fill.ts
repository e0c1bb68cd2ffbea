import type { Database } from 'better-sqlite3'
import { assert } from '../core/assert.js'
import type { Change } from '../core/change.js'
import { blobOf } from './bytes.js'
import { logKey } from './log-key.js'
import type { OrderKeys } from './order-keys.js'
import type { CandleWriter } from './write-candles.js'

type Filling = Extract<Change, { kind: 'OrderFilled' }>
type Reversing = Extract<Change, { kind: 'FillReversed' }>

export interface FillWriterOptions {
  readonly db: Database
  readonly candles: CandleWriter
  readonly keyOf: OrderKeys
}

/** Writes the legs of fills and their trades; must run inside a transaction. */
export interface FillWriter {
  /** Forgets what a transaction that failed has left. */
  begin(): void
  write(ordinal: number, change: Filling, orderKey: number): void
  /** Ends the transaction's part here; a maker's leg whose trade has not come makes it fail. */
  flush(): void
}

/**
 * A maker's leg, which comes first, waits for the taker's, which completes the trade and its candles. Written before its
 * trade, it would make SQLite search all legs of the history for those that name the trade.
 */
export function createFillWriter({ db, candles, keyOf }: FillWriterOptions): FillWriter {
  const insertFill = db.prepare(
    `INSERT INTO fills (owner, at_ms, fill_key, trade_id, market_id, order_id, liquidity, side, price,
       amount, fee, tx_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const writeTrade = createTradeWriter(db, keyOf)
  let waiting: unknown[] | undefined
  const flush = (): void => {
    if (waiting !== undefined) insertFill.run(...waiting)
    waiting = undefined
  }
  return {
    begin: () => (waiting = undefined),
    flush,
    write(ordinal, change, orderKey) {
      const { fill, seq, atMs } = change
      const key = logKey(seq, ordinal)
      const { tradeId, liquidity } = fill
      const leg = legOf(ordinal, change)
      if (liquidity === 'maker') {
        flush()
        waiting = leg
        return
      }
      assert(tradeId === key, `trade ${tradeId} is not numbered by its taker's change ${seq}`)
      assert(fill.fee === fill.takerFee, `trade ${tradeId}: the taker's fee is not the match's`)
      writeTrade(ordinal, change, orderKey)
      flush()
      insertFill.run(...leg)
      candles.add(ordinal, { atMs, tradeId, price: fill.price, amount: fill.amount })
    },
  }
}

/** The row of a leg, in the order of the insert. */
function legOf(ordinal: number, { fill, seq, atMs, owner, orderId, side }: Filling): unknown[] {
  return [
    ...[blobOf(owner), atMs, logKey(seq, ordinal), fill.tradeId, ordinal],
    ...[orderId, fill.liquidity, side, String(fill.price), String(fill.amount)],
    ...[String(fill.fee), blobOf(fill.txHash)],
  ]
}

/** Takes a trade out of all that counts, with the maker's leg, which comes first; the row stays, marked. */
export function createTradeReverser({ db, candles }: Omit<FillWriterOptions, 'keyOf'>) {
  const update = db.prepare('UPDATE trades SET reversed_at_ms = ? WHERE trade_id = ?')
  const select = db
    .prepare<[number], number>('SELECT at_ms FROM trades WHERE trade_id = ?')
    .pluck()
    .safeIntegers(false)
  return (ordinal: number, { fill, atMs }: Reversing): void => {
    const { tradeId, liquidity } = fill
    const tradedAtMs = select.get(tradeId)
    assert(tradedAtMs !== undefined, `trade ${tradeId} is reversed and was never made`)
    if (liquidity === 'taker') return
    update.run(atMs, tradeId)
    candles.rebuild(ordinal, tradedAtMs)
  }
}

function createTradeWriter(db: Database, keyOf: OrderKeys) {
  const insert = db.prepare(
    `INSERT INTO trades (trade_id, market_id, at_ms, settlement_id, maker_order_key, taker_order_key,
       taker_side, price, amount, taker_fee, tx_hash, block_number)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (ordinal: number, { fill, atMs }: Filling, takerOrderKey: number): void => {
    insert.run(
      ...[fill.tradeId, ordinal, atMs, fill.settlementId, keyOf(fill.makerOrderId), takerOrderKey],
      ...[fill.takerSide, String(fill.price), String(fill.amount), String(fill.takerFee)],
      ...[blobOf(fill.txHash), fill.blockNumber],
    )
  }
}
