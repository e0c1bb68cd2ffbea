import type { Database } from 'better-sqlite3'
import { orderFromText } from '../bus-schemas/order-wire.js'
import type { Address, Hex } from '../core/action.js'
import { exactNumber } from '../core/decimal.js'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../core/money.js'
import type { Order, Side } from '../core/order.js'
import { blobOf, hexOf } from './bytes.js'

/** A fill that the chain told of. */
export interface ChainFill {
  readonly txHash: Hex
  readonly logIndex: number
  readonly blockNumber: bigint
  readonly base: Address
  readonly taker: bigint
  readonly maker: bigint
  readonly takerIsBid: boolean
  /** Quote and base at 1e18. */
  readonly quote: bigint
  readonly amount: bigint
}

/** What a fill on the chain looks like that settles a match. */
export type WantedFill = Pick<
  ChainFill,
  'base' | 'taker' | 'maker' | 'takerIsBid' | 'quote' | 'amount'
>

/** A settled match as the feed told of it. */
export interface SettledTrade {
  readonly tradeId: number
  readonly settlementId: string
  readonly maker: Order
  readonly taker: Order
  readonly takerSide: Side
  readonly price: PriceE18
  readonly amount: AmountE18
  readonly takerFee: QuoteE18
  readonly txHash: Hex
  readonly blockNumber: bigint
}

/** An order and its key. */
export interface KeyedOrder {
  readonly orderKey: number
  readonly order: Order
}

/** Beside a projection made for an audit: what the chain told, and which of it is explained. */
export interface AuditScratch {
  addFills(fills: readonly ChainFill[]): void
  /** Takes an unexplained fill like this, of one of these transactions if there is one; undefined when there is none. */
  claim(settlementId: string, wanted: WantedFill, hashes: readonly Hex[]): Hex | undefined
  isClaimed(settlementId: string): boolean
  /** Fills on the chain that nothing explains, a few. */
  unclaimed(
    limit: number,
  ): { readonly txHash: Hex; readonly logIndex: number; readonly base: Address }[]
  countFills(base: Address): number
  /** Settled matches that stand of a market above a trade id, in order. */
  trades(ordinal: number, afterTradeId: number, limit: number): SettledTrade[]
  hasTrade(settlementId: string): boolean
  order(orderId: string): Order | undefined
  /** Orders of a market above a key, in order. */
  orders(ordinal: number, afterKey: number, limit: number): KeyedOrder[]
  /** Base amount at 1e18 of the order's settled matches that the chain told of. */
  settledOnChain(orderKey: number): bigint
}

const SCHEMA = `
  CREATE TEMP TABLE chain_fill (
    tx_hash BLOB NOT NULL,
    log_index INTEGER NOT NULL,
    fill TEXT NOT NULL,
    base TEXT NOT NULL,
    settlement_id TEXT,
    PRIMARY KEY (tx_hash, log_index)
  );
  CREATE INDEX temp.chain_fill_open ON chain_fill (fill) WHERE settlement_id IS NULL;
  CREATE UNIQUE INDEX temp.chain_fill_claimed ON chain_fill (settlement_id) WHERE settlement_id IS NOT NULL;
  CREATE INDEX main.audit_trades_by_settlement ON trades (settlement_id);
  CREATE INDEX main.audit_trades_by_maker ON trades (maker_order_key);
  CREATE INDEX main.audit_trades_by_taker ON trades (taker_order_key);
`

/** Equal fills, equal text. */
const textOf = ({ base, taker, maker, takerIsBid, quote, amount }: WantedFill): string =>
  [base, taker, maker, takerIsBid ? 'buy' : 'sell', quote, amount].join(' ')

/** Opens the scratch in a database of the history schema that nobody else uses. */
export function openAuditScratch(db: Database): AuditScratch {
  db.exec(SCHEMA)
  const { addFills, claim } = prepareClaims(db)
  const isClaimed = db.prepare<[string], number>(
    'SELECT count(*) FROM chain_fill WHERE settlement_id = ?',
  )
  const unclaimed = db.prepare<[number], { tx_hash: Buffer; log_index: bigint; base: Address }>(
    'SELECT tx_hash, log_index, base FROM chain_fill WHERE settlement_id IS NULL LIMIT ?',
  )
  const count = db.prepare<[string], number>('SELECT count(*) FROM chain_fill WHERE base = ?')
  const hasTrade = db.prepare<[string], number>(
    'SELECT count(*) FROM trades WHERE settlement_id = ? AND reversed_at_ms IS NULL',
  )
  for (const statement of [isClaimed, count, hasTrade]) statement.pluck().safeIntegers(false)
  return {
    addFills,
    claim,
    isClaimed: (settlementId) => isClaimed.get(settlementId) !== 0,
    unclaimed: (limit) =>
      unclaimed.all(limit).map(({ tx_hash, log_index, base }) => ({
        ...{ txHash: hexOf(tx_hash), logIndex: exactNumber(log_index), base },
      })),
    countFills: (base) => count.get(base) ?? 0,
    hasTrade: (settlementId) => hasTrade.get(settlementId) !== 0,
    ...prepareTradeReads(db),
  }
}

function prepareClaims(db: Database): Pick<AuditScratch, 'addFills' | 'claim'> {
  const insert = db.prepare(
    'INSERT INTO chain_fill (tx_hash, log_index, fill, base) VALUES (?, ?, ?, ?)',
  )
  const open = db.prepare<[string], { tx_hash: Buffer; log_index: bigint }>(
    'SELECT tx_hash, log_index FROM chain_fill WHERE fill = ? AND settlement_id IS NULL LIMIT 64',
  )
  const take = db.prepare(
    'UPDATE chain_fill SET settlement_id = ? WHERE tx_hash = ? AND log_index = ?',
  )
  return {
    addFills: db.transaction((fills: readonly ChainFill[]) => {
      for (const fill of fills) {
        insert.run(blobOf(fill.txHash), fill.logIndex, textOf(fill), fill.base)
      }
    }),
    claim(settlementId, wanted, hashes) {
      const found = open.all(textOf(wanted))
      const own = found.find(({ tx_hash }) => hashes.includes(hexOf(tx_hash)))
      const chosen = own ?? found[0]
      if (chosen === undefined) return undefined
      take.run(settlementId, chosen.tx_hash, chosen.log_index)
      return hexOf(chosen.tx_hash)
    },
  }
}

interface TradeRow {
  readonly tradeId: bigint
  readonly settlementId: string
  readonly maker: string
  readonly taker: string
  readonly takerSide: Side
  readonly price: string
  readonly amount: string
  readonly takerFee: string
  readonly txHash: Buffer
  readonly blockNumber: bigint
}

function prepareTradeReads(
  db: Database,
): Pick<AuditScratch, 'trades' | 'order' | 'orders' | 'settledOnChain'> {
  const order = db.prepare<[string], string>('SELECT body FROM orders WHERE order_id = ?').pluck()
  const trades = db.prepare<[number, number, number], TradeRow>(
    `SELECT trade_id AS tradeId, settlement_id AS settlementId, maker.body AS maker,
       taker.body AS taker, taker_side AS takerSide, price, amount, taker_fee AS takerFee,
       tx_hash AS txHash, block_number AS blockNumber
     FROM trades
       JOIN orders AS maker ON maker.order_key = maker_order_key
       JOIN orders AS taker ON taker.order_key = taker_order_key
     WHERE trades.market_id = ? AND trade_id > ? AND reversed_at_ms IS NULL ORDER BY trade_id LIMIT ?`,
  )
  const orders = db.prepare<[number, number, number], { order_key: bigint; body: string }>(
    `SELECT order_key, body FROM orders WHERE market_id = ? AND order_key > ?
     ORDER BY order_key LIMIT ?`,
  )
  const amounts = db
    .prepare<[number, number], string>(
      `SELECT amount FROM trades JOIN chain_fill USING (settlement_id)
       WHERE (maker_order_key = ? OR taker_order_key = ?) AND reversed_at_ms IS NULL`,
    )
    .pluck()
  return {
    trades: (ordinal, after, limit) =>
      trades.all(ordinal, after, limit).map((row) => ({
        tradeId: exactNumber(row.tradeId),
        settlementId: row.settlementId,
        maker: orderFromText(row.maker),
        taker: orderFromText(row.taker),
        takerSide: row.takerSide,
        price: priceE18(BigInt(row.price)),
        amount: amountE18(BigInt(row.amount)),
        takerFee: quoteE18(BigInt(row.takerFee)),
        txHash: hexOf(row.txHash),
        blockNumber: row.blockNumber,
      })),
    order: (orderId) => {
      const body = order.get(orderId)
      return body === undefined ? undefined : orderFromText(body)
    },
    orders: (ordinal, after, limit) =>
      orders.all(ordinal, after, limit).map(({ order_key, body }) => ({
        orderKey: exactNumber(order_key),
        order: orderFromText(body),
      })),
    settledOnChain: (orderKey) =>
      amounts.all(orderKey, orderKey).reduce((sum, amount) => sum + BigInt(amount), 0n),
  }
}
