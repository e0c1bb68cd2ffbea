import type { Database } from 'better-sqlite3'
import { termsText } from '../../bus-schemas/markets.js'
import { orderText } from '../../bus-schemas/orders.js'
import type { Address } from '../../core/action.js'
import type { OrderSums } from '../../core/engine/order-sums.js'
import type { HoldReason } from '../../core/model/hold.js'
import type { MarketTerms } from '../../core/model/market-terms.js'
import type { Order, OrderProgress, OrderStatus, Side } from '../../core/model/order.js'
import { amountE18, priceE18, type PriceE18 } from '../../core/money.js'
import type { OpenOrder } from '../../core/records/order-record.js'
import { blobOf, sumsOfColumns, type SumColumns } from '../row-values.js'

/** An order's columns. */
export const ORDER_COLUMNS = `body, rank, orders.created_at_ms AS createdAtMs, status, filled, pending, open,
    fills_amount AS fillsAmount, filled_quote AS filledQuote, filled_product AS filledProduct, fee_paid AS feePaid,
    updated_at_ms AS updatedAtMs, held_reason AS heldReason, cancel_reason AS cancelReason,
    cancelled_at_ms AS cancelledAtMs`

/** SQL of readOrder. */
export const ORDER_SQL = `
  SELECT ${ORDER_COLUMNS}
  FROM orders JOIN order_progress AS progress USING (order_key)
  WHERE order_id = ?`

/** One order by its id; undefined when it is not projected. */
export function createReadOrder(db: Database): (orderId: string) => StoredOrder | undefined {
  const select = db.prepare<[string], OrderRow>(ORDER_SQL).safeIntegers(false)
  return (orderId) => {
    const row = select.get(orderId)
    return row && storedOrderOf(row)
  }
}

/** Conditions and sort order repeat those of the partial indexes; otherwise SQLite would not use them. */
const openOf = (side: Side, order: string, further = ''): string =>
  `WHERE progress.market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND side = '${side}' AND open <> '0' ${further}
  ORDER BY ${order}, rank
  LIMIT ?`
export const BIDS = openOf('buy', 'length(limit_price) DESC, limit_price DESC')
export const ASKS = openOf('sell', 'length(limit_price), limit_price')

/** SQL of openOrders, by side; best order first. */
export const OPEN_ORDERS_SQL = {
  buy: `SELECT ${ORDER_COLUMNS} FROM order_progress AS progress JOIN orders USING (order_key) ${BIDS}`,
  sell: `SELECT ${ORDER_COLUMNS} FROM order_progress AS progress JOIN orders USING (order_key) ${ASKS}`,
}

/** SQL of bestPrices. */
export const BEST_PRICE_SQL = {
  buy: `SELECT limit_price FROM order_progress AS progress ${BIDS}`,
  sell: `SELECT limit_price FROM order_progress AS progress ${ASKS}`,
}

/** To SQLite: no limit. */
const ALL = -1

/**
 * A market's open orders, bids and then asks, best first; `depth` limits each side. Empty for a market that is not
 * projected.
 */
export function createReadOpenOrders(db: Database) {
  const select = (side: Side) =>
    db.prepare<[string, number], OrderRow>(OPEN_ORDERS_SQL[side]).safeIntegers(false)
  const sides = [select('buy'), select('sell')]
  return (market: string, depth = ALL): OpenOrder[] =>
    sides
      .flatMap((side) => side.all(market, depth))
      .map((row) => ({ ...storedOrderOf(row), rank: row.rank }))
}

/** Prices from `low` to `high`, both included; without a bound where one is absent. */
export interface PricesWithin {
  readonly low?: PriceE18 | undefined
  readonly high?: PriceE18 | undefined
}

/** Integers of one length are in the order of their texts. */
const OF_A_LENGTH = 'AND length(limit_price) = ? AND limit_price BETWEEN ? AND ?'

/** SQL of ordersWithin, by side, for prices of one length; best order first. */
export const ORDERS_WITHIN_SQL = {
  buy: `SELECT ${ORDER_COLUMNS} FROM order_progress AS progress JOIN orders USING (order_key) ${openOf('buy', 'limit_price DESC', OF_A_LENGTH)}`,
  sell: `SELECT ${ORDER_COLUMNS} FROM order_progress AS progress JOIN orders USING (order_key) ${openOf('sell', 'limit_price', OF_A_LENGTH)}`,
}

/** Beyond every price. */
const NO_LIMIT = '9'.repeat(78)

/**
 * A market's open orders of one side at these prices, best first, at most `limit`. Each is read when it is asked for; orders at
 * other prices cost nothing.
 */
export function createReadOrdersWithin(db: Database) {
  const select = (side: Side) =>
    db
      .prepare<[string, number, string, string, number], OrderRow>(ORDERS_WITHIN_SQL[side])
      .safeIntegers(false)
  const bids = select('buy')
  const asks = select('sell')
  return function* (
    market: string,
    side: Side,
    { low, high }: PricesWithin,
    limit: number,
  ): Generator<OpenOrder> {
    const from = low?.toString() ?? '0'
    const to = high?.toString() ?? NO_LIMIT
    const count = Math.max(to.length - from.length + 1, 0)
    const lengths = Array.from({ length: count }, (_, index) => from.length + index)
    let left = limit
    for (const length of side === 'buy' ? lengths.reverse() : lengths) {
      const least = length === from.length ? from : '0'.repeat(length)
      const most = length === to.length ? to : '9'.repeat(length)
      const rows = (side === 'buy' ? bids : asks).iterate(market, length, least, most, left)
      for (const row of rows) {
        left -= 1
        yield { ...storedOrderOf(row), rank: row.rank }
      }
      if (left <= 0) return
    }
  }
}

/** The highest open bid price and the lowest open ask price; absent when the side is empty. */
export interface BestPrices {
  readonly bid?: PriceE18
  readonly ask?: PriceE18
}

/** The cost does not depend on the size of the book. */
export function createReadBestPrices(db: Database): (market: string) => BestPrices {
  const select = (side: Side) => db.prepare<[string, number], string>(BEST_PRICE_SQL[side]).pluck()
  const bids = select('buy')
  const asks = select('sell')
  return (market) => {
    const bid = bids.get(market, 1)
    const ask = asks.get(market, 1)
    return {
      ...(bid === undefined ? {} : { bid: priceE18(BigInt(bid)) }),
      ...(ask === undefined ? {} : { ask: priceE18(BigInt(ask)) }),
    }
  }
}

/** An order of an owner's history, and the cursor of the next page after it. */
export interface HistoryOrder extends StoredOrder {
  readonly position: HistoryPosition
}

/** SQL of orderHistory: the page's rows through the owner's index, then their progress by key. */
export const ORDER_HISTORY_SQL = `
  SELECT order_key AS orderKey, ${ORDER_COLUMNS}
  FROM orders JOIN order_progress AS progress USING (order_key)
  WHERE owner = ? AND (created_at_ms, order_key) < (?, ?)
    AND created_at_ms >= ?
  ORDER BY created_at_ms DESC, order_key DESC
  LIMIT ?`

/** An owner's orders, newest first. The cost of a page does not depend on how old it is. */
export function createReadOrderHistory(db: Database) {
  const select = db
    .prepare<[Buffer, number, number, number, number], HistoryRow>(ORDER_HISTORY_SQL)
    .safeIntegers(false)
  return (owner: Address, page: HistoryPage): HistoryOrder[] =>
    select.all(blobOf(owner), ...boundsOf(page), page.limit).map(historyOrderOf)
}

type HistoryRow = OrderRow & { readonly orderKey: number }

const historyOrderOf = (row: HistoryRow): HistoryOrder => ({
  ...storedOrderOf(row),
  position: { atMs: row.createdAtMs, key: row.orderKey },
})

/** Which of an owner's live orders; absent: all. */
export interface LiveFilter {
  readonly market?: string | undefined
  readonly subaccountId?: bigint | undefined
}

/** SQL of liveOrders: the owner's rows of the table of live orders, then their orders by key. */
export const LIVE_ORDERS_SQL = `
  SELECT live.order_key AS orderKey, ${ORDER_COLUMNS}
  FROM live_orders AS live
    JOIN orders USING (order_key) JOIN order_progress AS progress USING (order_key)
  WHERE live.owner = ? AND (live.created_at_ms, live.order_key) < (?, ?)
    AND live.created_at_ms >= ?
    AND (? IS NULL OR live.market_id = (SELECT market_id FROM markets WHERE market = ?))
    AND (? IS NULL OR live.subaccount_id = ?)
  ORDER BY live.created_at_ms DESC, live.order_key DESC
  LIMIT ?`

/** An owner's active and matching orders, newest first. The cost follows from how many the owner has. */
export function createReadLiveOrders(db: Database) {
  const select = db.prepare<unknown[], HistoryRow>(LIVE_ORDERS_SQL).safeIntegers(false)
  return (owner: Address, page: HistoryPage, filter: LiveFilter = {}): HistoryOrder[] => {
    const { market = null, subaccountId } = filter
    const account = subaccountId === undefined ? null : String(subaccountId)
    const filters = [market, market, account, account]
    return select.all(blobOf(owner), ...boundsOf(page), ...filters, page.limit).map(historyOrderOf)
  }
}

/** What ORDER_COLUMNS select; amounts are integers at 1e18 in decimal text. */
export interface OrderRow extends SumColumns {
  readonly body: string
  readonly rank: number
  readonly createdAtMs: number
  readonly status: OrderStatus
  readonly filled: string
  readonly pending: string
  readonly open: string
  readonly updatedAtMs: number
  readonly heldReason: HoldReason | null
  readonly cancelReason: string | null
  readonly cancelledAtMs: number | null
}

/** The order of a row. */
export const orderOf = (row: OrderRow): Order => orderText.read(row.body)

/** The state of a row's order. */
export function progressOf(row: OrderRow): OrderProgress {
  return {
    status: row.status,
    filled: amountE18(BigInt(row.filled)),
    pending: amountE18(BigInt(row.pending)),
    open: amountE18(BigInt(row.open)),
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    ...(row.heldReason === null ? {} : { heldReason: row.heldReason }),
    ...(row.cancelReason === null ? {} : { cancelReason: row.cancelReason }),
    ...(row.cancelledAtMs === null ? {} : { cancelledAtMs: row.cancelledAtMs }),
  }
}

/** The order and the state of a row. */
export const storedOrderOf = (row: OrderRow): StoredOrder => ({
  order: orderOf(row),
  progress: progressOf(row),
  ...sumsOf(row),
})

/** What the fills of a row's order add up to; nothing before the first. */
function sumsOf(row: OrderRow): Pick<StoredOrder, 'sums'> {
  const sums = sumsOfColumns(row)
  return sums === undefined ? {} : { sums }
}

/**
 * Position of a row in an owner's history over all markets: by market time, then by log position. No two rows of one
 * history share a position.
 */
export interface HistoryPosition {
  /** Unix milliseconds. */
  readonly atMs: number
  /** Log position: `seq × 65,536 + the market's ordinal`. */
  readonly key: number
}

/** A page of an owner's history, newest first: at most `limit` rows strictly older than `before`, when given. */
export interface HistoryPage {
  readonly limit: number
  readonly before?: HistoryPosition | undefined
  /** Only rows from this time on, and before that one, unix milliseconds. */
  readonly fromMs?: number
  readonly endMs?: number
}

/** Parameters of a page's bounds: strictly before a position, and from a time on. The defaults lie beyond every row. */
export function boundsOf({ before, fromMs, endMs }: HistoryPage): [number, number, number] {
  const beyond = Number.MAX_SAFE_INTEGER
  const { atMs, key } = before ?? { atMs: beyond, key: beyond }
  const from = fromMs ?? Number.MIN_SAFE_INTEGER
  // Keys are above 0: before the first of the end is before all of it.
  return endMs !== undefined && endMs <= atMs ? [endMs, 0, from] : [atMs, key, from]
}

/** SQL of lastTradeSec and lastPrice. */
export const LAST_TRADE_SQL = `
  SELECT at_ms AS atMs, price FROM trades
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND reversed_at_ms IS NULL
  ORDER BY trade_id DESC
  LIMIT 1`

type LastTrade = Readonly<{ atMs: number; price: string }>

const prepareLast = (db: Database) =>
  db.prepare<[string], LastTrade>(LAST_TRADE_SQL).safeIntegers(false)

/** Unix second of a market's newest fill that was not reversed; undefined before the first. */
export function createReadLastTradeSec(db: Database): (market: string) => number | undefined {
  const select = prepareLast(db)
  return (market) => {
    const last = select.get(market)
    return last && Math.floor(last.atMs / 1000)
  }
}

/** Price of a market's newest fill that was not reversed; undefined before the first. */
export function createReadLastPrice(db: Database): (market: string) => PriceE18 | undefined {
  const select = prepareLast(db)
  return (market) => {
    const last = select.get(market)
    return last && priceE18(BigInt(last.price))
  }
}

/** The terms that the market's feed last stated, the same object until it states others. */
export function createReadTerms(db: Database): (market: string) => MarketTerms | undefined {
  const select = db
    .prepare<[string], string | null>('SELECT terms FROM markets WHERE market = ?')
    .pluck()
  const kept = new Map<string, { readonly text: string; readonly terms: MarketTerms }>()
  return (market) => {
    const text = select.get(market) ?? undefined
    if (text === undefined) return undefined
    const known = kept.get(market)
    if (known?.text === text) return known.terms
    const terms = termsText.read(text)
    kept.set(market, { text, terms })
    return terms
  }
}

/** What each feed last stated of its market, in the order in which the markets came. */
export function createReadAllTerms(db: Database): () => MarketTerms[] {
  const select = db
    .prepare<[], string>('SELECT terms FROM markets WHERE terms IS NOT NULL ORDER BY rowid')
    .pluck()
  return () => select.all().map((text) => termsText.read(text))
}

/** Highest projected `seq` of a market; 0 before its first change and for a market that is not projected. */
export function createReadProjectedSeq(db: Database): (market: string) => number {
  const select = db
    .prepare<[string], number>('SELECT feed_seq FROM markets WHERE market = ?')
    .pluck()
    .safeIntegers(false)
  return (market) => select.get(market) ?? 0
}

/** An order and its state, as the projection holds it. */
export interface StoredOrder {
  readonly order: Order
  readonly progress: OrderProgress
  /** What the order's own fills add up to; absent while it never had one. */
  readonly sums?: OrderSums
}
