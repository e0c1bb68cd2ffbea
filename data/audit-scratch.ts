import type { Database } from 'better-sqlite3'
import { orderText } from '../bus-schemas/orders.js'
import type { Hex } from '../core/action.js'
import { exactNumber } from '../core/decimal.js'
import type { Order, Side } from '../core/model/order.js'
import {
  amountE18,
  priceE18,
  quoteE18,
  type AmountE18,
  type PriceE18,
  type QuoteE18,
} from '../core/money.js'
import type { ChainFill } from '../core/chain-fill.js'
import { blobOf, hexOf } from './row-values.js'

/** The fill on the chain that the settlement of a match must have; without a quote, one of any. */
export type WantedFill = Pick<
  ChainFill,
  'instrument' | 'taker' | 'maker' | 'takerIsBid' | 'amount'
> & {
  readonly quote?: bigint
}

/** A fill that a settlement has claimed. */
export type ClaimedFill = Pick<ChainFill, 'txHash' | 'blockNumber' | 'quote'>

/** Amounts as the trade module states them, at 1e18, signed: positive is bought. */
export type Bought = Map<bigint, bigint>

/** A settled match of the feed. */
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

/**
 * Temporary tables next to a projection made for an audit: the fills of the chain, each claimed by at most one
 * settlement.
 */
export interface AuditScratch {
  addFills(fills: readonly ChainFill[]): void
  /**
   * Claims a free fill equal to `wanted`, preferring one of the transactions in `hashes`; undefined when there is none.
   */
  claim(settlementId: string, wanted: WantedFill, hashes: readonly Hex[]): ClaimedFill | undefined
  /** Claims a fill by its place on the chain; false when there is none that is free. */
  claimLost(settlementId: string, txHash: Hex, logIndex: number): boolean
  /** What the claimed fills of a market add up to for each account, in one transaction or in all. */
  boughtBy(market: string, txHash?: Hex): Bought
  isClaimed(settlementId: string): boolean
  /** Fills of the chain that no settlement has claimed, at most `limit`. */
  unclaimed(
    limit: number,
  ): { readonly txHash: Hex; readonly logIndex: number; readonly instrument: string }[]
  countFills(instrument: string): number
  /** Settled matches of a market that were not reversed, above a trade id, ascending. */
  trades(ordinal: number, afterTradeId: number, limit: number): SettledTrade[]
  hasTrade(settlementId: string): boolean
  order(orderId: string): Order | undefined
  /** Orders of a market above a key, ascending. */
  orders(ordinal: number, afterKey: number, limit: number): KeyedOrder[]
  /** Sum of the sizes, at 1e18, of the order's settled matches that have claimed a fill of the chain. */
  settledOnChain(orderKey: number): bigint
}

const SCHEMA = `
  CREATE TEMP TABLE chain_fill (
    tx_hash BLOB NOT NULL,
    log_index INTEGER NOT NULL,
    block_number INTEGER NOT NULL,
    fill TEXT NOT NULL,
    quote TEXT NOT NULL,
    instrument TEXT NOT NULL,
    settlement_id TEXT,
    PRIMARY KEY (tx_hash, log_index)
  );
  CREATE INDEX temp.chain_fill_open ON chain_fill (fill, quote) WHERE settlement_id IS NULL;
  CREATE UNIQUE INDEX temp.chain_fill_claimed ON chain_fill (settlement_id) WHERE settlement_id IS NOT NULL;
  CREATE INDEX main.audit_trades_by_settlement ON trades (settlement_id);
  CREATE INDEX main.audit_trades_by_maker ON trades (maker_order_key);
  CREATE INDEX main.audit_trades_by_taker ON trades (taker_order_key);
`

/** Fills that are equal but for their quote have equal text. */
const textOf = ({ instrument, taker, maker, takerIsBid, amount }: WantedFill): string =>
  [instrument, taker, maker, takerIsBid ? 'buy' : 'sell', amount].join(' ')

/** Opens the temporary tables in a database of the history schema that has no other user. */
export function openAuditScratch(db: Database): AuditScratch {
  db.exec(SCHEMA)
  const claims = prepareClaims(db)
  const isClaimed = db.prepare<[string], number>(
    'SELECT count(*) FROM chain_fill WHERE settlement_id = ?',
  )
  const unclaimed = db.prepare<
    [number],
    { tx_hash: Buffer; log_index: bigint; instrument: string }
  >('SELECT tx_hash, log_index, instrument FROM chain_fill WHERE settlement_id IS NULL LIMIT ?')
  const count = db.prepare<[string], number>('SELECT count(*) FROM chain_fill WHERE instrument = ?')
  const hasTrade = db.prepare<[string], number>(
    'SELECT count(*) FROM trades WHERE settlement_id = ? AND reversed_at_ms IS NULL',
  )
  for (const statement of [isClaimed, count, hasTrade]) statement.pluck().safeIntegers(false)
  return {
    ...claims,
    boughtBy: prepareBought(db),
    isClaimed: (settlementId) => isClaimed.get(settlementId) !== 0,
    unclaimed: (limit) =>
      unclaimed.all(limit).map(({ tx_hash, log_index, instrument }) => ({
        txHash: hexOf(tx_hash),
        logIndex: exactNumber(log_index),
        instrument,
      })),
    countFills: (instrument) => count.get(instrument) ?? 0,
    hasTrade: (settlementId) => hasTrade.get(settlementId) !== 0,
    ...prepareTradeReads(db),
  }
}

function prepareClaims(db: Database): Pick<AuditScratch, 'addFills' | 'claim' | 'claimLost'> {
  const insert = db.prepare(
    `INSERT INTO chain_fill (tx_hash, log_index, block_number, fill, quote, instrument)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const columns = 'tx_hash, log_index, block_number, quote'
  const open = 'settlement_id IS NULL LIMIT 64'
  const any = db.prepare<[string], OpenFill>(
    `SELECT ${columns} FROM chain_fill WHERE fill = ? AND ${open}`,
  )
  const exact = db.prepare<[string, string], OpenFill>(
    `SELECT ${columns} FROM chain_fill WHERE fill = ? AND quote = ? AND ${open}`,
  )
  const take = db.prepare(
    'UPDATE chain_fill SET settlement_id = ? WHERE tx_hash = ? AND log_index = ?',
  )
  const takeFree = db.prepare(
    `UPDATE chain_fill SET settlement_id = ?
     WHERE tx_hash = ? AND log_index = ? AND settlement_id IS NULL`,
  )
  return {
    addFills: db.transaction((fills: readonly ChainFill[]) => {
      for (const fill of fills) {
        const { txHash, logIndex, blockNumber, quote, instrument } = fill
        insert.run(blobOf(txHash), logIndex, blockNumber, textOf(fill), String(quote), instrument)
      }
    }),
    claimLost: (settlementId, txHash, logIndex) =>
      takeFree.run(settlementId, blobOf(txHash), logIndex).changes === 1,
    claim(settlementId, wanted, hashes) {
      const { quote } = wanted
      const text = textOf(wanted)
      const found = quote === undefined ? any.all(text) : exact.all(text, String(quote))
      const own = found.find(({ tx_hash }) => hashes.includes(hexOf(tx_hash)))
      const chosen = own ?? found[0]
      if (chosen === undefined) return undefined
      take.run(settlementId, chosen.tx_hash, chosen.log_index)
      return {
        txHash: hexOf(chosen.tx_hash),
        blockNumber: chosen.block_number,
        quote: BigInt(chosen.quote),
      }
    },
  }
}

interface OpenFill {
  readonly tx_hash: Buffer
  readonly log_index: bigint
  readonly block_number: bigint
  readonly quote: string
}

function prepareBought(db: Database): AuditScratch['boughtBy'] {
  // The ids of a market's settlements are `<market>:<seq>`.
  const ofMarket = `settlement_id >= ? || ':' AND settlement_id < ? || ';'`
  const all = db
    .prepare<[string, string], string>(`SELECT fill FROM chain_fill WHERE ${ofMarket}`)
    .pluck()
  const inOne = db
    .prepare<[Buffer, string, string], string>(
      `SELECT fill FROM chain_fill WHERE tx_hash = ? AND +${ofMarket}`,
    )
    .pluck()
  return (market, txHash) => {
    const fills =
      txHash === undefined
        ? all.iterate(market, market)
        : inOne.iterate(blobOf(txHash), market, market)
    const bought: Bought = new Map()
    const add = (account: bigint, amount: bigint) =>
      bought.set(account, (bought.get(account) ?? 0n) + amount)
    for (const fill of fills) {
      const [, taker = '', maker = '', side, amount = ''] = fill.split(' ')
      const size = side === 'buy' ? BigInt(amount) : 0n - BigInt(amount)
      add(BigInt(taker), size)
      add(BigInt(maker), 0n - size)
    }
    return bought
  }
}

interface ScratchTradeRow {
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
  const trades = db.prepare<[number, number, number], ScratchTradeRow>(
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
        maker: orderText.read(row.maker),
        taker: orderText.read(row.taker),
        takerSide: row.takerSide,
        price: priceE18(BigInt(row.price)),
        amount: amountE18(BigInt(row.amount)),
        takerFee: quoteE18(BigInt(row.takerFee)),
        txHash: hexOf(row.txHash),
        blockNumber: row.blockNumber,
      })),
    order: (orderId) => {
      const body = order.get(orderId)
      return body === undefined ? undefined : orderText.read(body)
    },
    orders: (ordinal, after, limit) =>
      orders.all(ordinal, after, limit).map(({ order_key, body }) => ({
        orderKey: exactNumber(order_key),
        order: orderText.read(body),
      })),
    settledOnChain: (orderKey) =>
      amounts.all(orderKey, orderKey).reduce((sum, amount) => sum + BigInt(amount), 0n),
  }
}
