import type { LevelDepth, MarketLevels, MarketTicker } from '../interface/market-data.js'
import type { AccountsBody } from '../interface/accounts.js'
import type { BalancesBody } from '../interface/balances.js'
import type { CloseOutsPage } from '../interface/close-out.js'
import type { Explanation } from '../interface/explanation.js'
import type {
  CancelAll,
  CancelAllAfter,
  CancelList,
  CancelsAnswer,
  LeaseAnswer,
} from '../interface/cancels.js'
import type { LiquidationsPage } from '../interface/liquidation.js'
import type { MarketEntry } from '../interface/market.js'
import type {
  BookRecord,
  CancelOrder,
  NewOrder,
  OrderAnswer,
  OrderHistoryPage,
  OrderLookup,
  OrderRecord,
} from '../interface/order.js'
import type { BatchAnswer, ReduceOrder, ReplaceOrder } from '../interface/order-changes.js'
import type { PositionsBody } from '../interface/position.js'
import type {
  CandleInterval,
  CandlesPage,
  FillsPage,
  TickerRecord,
  TradesPage,
} from '../interface/trade.js'
import type { FundingPage, MarksPage } from '../interface/prices.js'
import type { VenueFacts } from '../interface/signing.js'
import type { OrderVerdict } from '../interface/validation.js'
import type { Clock, Health } from '../interface/venue.js'
import { domainOf, type VenueDomain } from './domain.js'
import { createPlacing, type OrderPlacing } from './place-orders.js'
import { jsonBody, request, urlOf, type Query } from './request.js'
import { createSeenSeqs, type SeenSeqs } from './seen-seqs.js'
import { frameHeader, type SignedFrame } from './sign-frame.js'

export interface RestClientOptions {
  /** How long to wait for one answer. */
  readonly timeoutMs?: number
  /** How often a submission whose outcome is unknown is sent again. */
  readonly resends?: number
  /**
   * What was seen of the markets, shared with the socket clients of the same venue: reads then show at least what their frames have
   * shown. By default what the answers of this client have shown, its orders and cancels among them.
   */
  readonly seen?: SeenSeqs
}

/** A page of the history: at most 100 rows (default 50), older than `before`, the `next_before` of the previous page. */
export interface HistoryQuery {
  readonly limit?: number
  readonly before?: string
  /** RFC 3339: only rows from here on, and only before that. */
  readonly start?: string
  readonly end?: string
}

/** Liquidations of one market, by its identifier, and of one account; absent: of all. */
export interface LiquidationsQuery extends HistoryQuery {
  readonly symbol?: string
  readonly subaccount_id?: string
}

/** Which open orders: those of one market, by its identifier, or of one account; absent: of all. */
export interface OpenOrdersQuery {
  readonly market?: string
  readonly subaccount_id?: string
}

/** The same of orders: those that are active or matching alone, of a market or an account. */
export interface OrdersQuery extends HistoryQuery {
  readonly status?: 'open'
  readonly market?: string
  readonly subaccount_id?: string
}

/**
 * The venue's REST interface. Every method throws VenueRefused or OutcomeUnknown. A read shows at least what was seen before, or
 * throws OutcomeUnknown where the venue does not show it within two seconds.
 */
export interface RestClient extends OrderPlacing {
  markets(): Promise<MarketEntry[]>
  book(market: string, options?: { readonly depth?: number }): Promise<BookRecord>
  trades(
    market: string,
    options?: { readonly limit?: number; readonly beforeTradeId?: number },
  ): Promise<TradesPage>
  /** The newest candles that begin in [start, end), which are RFC 3339 times. */
  candles(
    market: string,
    interval: CandleInterval,
    options?: { readonly limit?: number; readonly start?: string; readonly end?: string },
  ): Promise<CandlesPage>
  /** Mark and index of a perpetual or a future as the chain showed them, newest first. */
  marks(market: string, query?: HistoryQuery): Promise<MarksPage>
  /** The hourly funding rates of a perpetual, newest first. */
  funding(market: string, query?: HistoryQuery): Promise<FundingPage>
  /** What the chain did to accounts below maintenance margin, newest first; needs no signature. */
  liquidations(query?: LiquidationsQuery): Promise<LiquidationsPage>
  tickers(): Promise<TickerRecord[]>
  /** The ticker of each market of any kind, as the channel `ticker` has it. */
  marketTickers(): Promise<MarketTicker[]>
  /** The best bid of a market in engine terms, for OrderFrame.bestBid; undefined when there is none. */
  bestBid(market: string): Promise<string | undefined>
  /** The best price levels of a market, as the channel `levels` begins with them. */
  levels(market: string, depth?: LevelDepth): Promise<MarketLevels>
  /** An account of perpetual markets as one block of the chain shows it; needs no signature. */
  positions(subaccountId: string): Promise<PositionsBody>
  /**
   * What the accounts of the frame's owner hold, and what orders and matches have reserved; those that have placed an order,
   * or those named. The frame is signed with the purpose `history`.
   */
  balances(frame: SignedFrame, subaccountIds?: readonly string[]): Promise<BalancesBody>
  /** The accounts and session keys of an owner, as the chain has them; needs no signature. */
  accounts(owner: string): Promise<AccountsBody>
  /** Every order of the frame's owner, newest first. The frame is signed with the purpose `history`. */
  orderHistory(frame: SignedFrame, query?: OrdersQuery): Promise<OrderHistoryPage>
  /** Every active or matching order of the frame's owner, newest first, over all pages. The frame is signed with the purpose `history`. */
  openOrders(frame: SignedFrame, query?: OpenOrdersQuery): Promise<OrderRecord[]>
  /** What the orders of the frame's owner traded, newest first. The frame is signed with the purpose `history`. */
  fills(frame: SignedFrame, query?: HistoryQuery): Promise<FillsPage>
  /** What settled series closed of the accounts of the frame's owner, newest first. The frame is signed with the purpose `history`. */
  closeOuts(frame: SignedFrame, query?: HistoryQuery): Promise<CloseOutsPage>
  /** What would become of an order; nothing is placed. Names the likely mistake of a refused signature. */
  validateOrder(body: NewOrder): Promise<OrderVerdict>
  /** Cancels an active order and returns it; signCancel makes the body for venues that require a proof. */
  cancelOrder(body: CancelOrder): Promise<OrderRecord>
  /** Shrinks an active order to `desired_amount` and returns it; the body is that of a cancel beside. */
  reduceOrder(body: ReduceOrder): Promise<OrderRecord>
  /**
   * Places up to 20 signed orders, each by itself; one with `replaces_nonce` or `replaces_order_id` is a replacement. The results
   * have their order. Sends none again: one with a status from 500 on may still be placed.
   */
  placeOrders(bodies: readonly (NewOrder | ReplaceOrder)[]): Promise<BatchAnswer['results']>
  /**
   * Cancels all orders of an owner, or those of one market, side or subaccount. Proven by the signature in the body, or by a
   * frame of the purpose `history`.
   */
  cancelAll(body: CancelAll, frame?: SignedFrame): Promise<CancelsAnswer>
  /** Cancels orders by their ids, each for itself; proven in the same way. */
  cancelList(body: CancelList, frame?: SignedFrame): Promise<CancelsAnswer>
  /** Cancels all orders of an owner unless it is called again in time; `seconds` 0 disarms. Proven in the same way. */
  cancelAllAfter(body: CancelAllAfter, frame?: SignedFrame): Promise<LeaseAnswer>
  order(orderId: string): Promise<OrderLookup>
  /**
   * What became of an order and why, in codes and in sentences. With a frame of its owner, of the purpose `history`, also what
   * its account holds and lacks.
   */
  explainOrder(orderId: string, frame?: SignedFrame): Promise<Explanation>
  health(): Promise<Health>
  /** The venue's clock, by which times of expiry are judged. */
  time(): Promise<Clock>
  /** Chain, contracts, domains and limits: what a signature is over, and what bounds a request. */
  venue(): Promise<VenueFacts>
  /** What the functions that sign take, from `venue()`: it stays the same for the life of the deployment. */
  domain(): Promise<VenueDomain>
}

const TIMEOUT_MS = 10_000
const RESENDS = 2
/** Rows of a page where all pages are read: the most that the venue gives. */
const PAGE_ROWS = 100

/** What sends requests to one venue. */
interface Transport {
  readonly send: <T>(path: string, init?: RequestInit) => Promise<T>
  readonly get: <T>(path: string, query?: Query, headers?: Record<string, string>) => Promise<T>
  /** With the frame that proves the owner. */
  readonly getOwn: <T>(path: string, frame: SignedFrame, query?: HistoryQuery | Query) => Promise<T>
  readonly post: <T>(path: string, body: object, frame?: SignedFrame) => Promise<T>
}

function createTransport(baseUrl: string, timeoutMs: number, seen: SeenSeqs): Transport {
  const own = (frame?: SignedFrame): Record<string, string> =>
    frame === undefined ? {} : { 'X-Service-Auth': frameHeader(frame) }
  const ask = <T>(url: string, init: RequestInit): Promise<T> =>
    request<T>(url, { ...init, signal: AbortSignal.timeout(timeoutMs) }, { seen })
  const get = <T>(path: string, query: Query = {}, headers = {}): Promise<T> =>
    ask<T>(urlOf(baseUrl, path, { ...query, min_seq: seen.minSeq() }), { headers })
  return {
    get,
    send: (path, init = {}) => ask(urlOf(baseUrl, path), init),
    getOwn: (path, frame, query = {}) => get(path, { ...query }, own(frame)),
    post(path, body, frame) {
      const { headers, ...sent } = jsonBody(body)
      return ask(urlOf(baseUrl, path), { ...sent, headers: { ...headers, ...own(frame) } })
    },
  }
}

/** A client of the venue at `baseUrl`, for example `http://127.0.0.1:8080`. */
export function createRestClient(baseUrl: string, options: RestClientOptions = {}): RestClient {
  const { timeoutMs = TIMEOUT_MS, resends = RESENDS, seen = createSeenSeqs() } = options
  const { send, get, getOwn, post } = createTransport(baseUrl, timeoutMs, seen)
  const order = (orderId: string) => get<OrderLookup>(`/v1/orders/${encodeURIComponent(orderId)}`)

  const levels = (market: string, depth?: LevelDepth) =>
    get<MarketLevels>('/v1/levels', { symbol: market, depth })

  const venue = () => send<VenueFacts>('/v1/venue')
  const placing = createPlacing({ post, order, resends })

  return {
    markets: () => get('/v1/markets'),
    book: (market, { depth } = {}) => get('/v1/book', { symbol: market, depth }),
    trades: (market, { limit, beforeTradeId } = {}) =>
      get('/v1/trades', { symbol: market, limit, before_trade_id: beforeTradeId }),
    candles: (market, interval, options = {}) =>
      get('/v1/candles', { symbol: market, interval, ...options }),
    marks: (market, query) => get('/v1/marks', { symbol: market, ...query }),
    funding: (market, query) => get('/v1/funding', { symbol: market, ...query }),
    liquidations: (query) => get('/v1/liquidations', { ...query }),
    tickers: () => get('/v1/integrations/tickers'),
    marketTickers: () => get('/v1/tickers'),
    levels,
    bestBid: async (market) => (await levels(market)).bids[0]?.price,
    positions: (subaccountId) => get('/v1/positions', { subaccount_id: subaccountId }),
    balances: (frame, subaccountIds) =>
      getOwn('/v1/balances', frame, { subaccount_id: subaccountIds?.join(',') }),
    accounts: (owner) => get('/v1/accounts', { owner_address: owner }),
    orderHistory: (frame, query) => getOwn('/v1/orders', frame, query),
    openOrders: (frame, query) =>
      allOrders((before) =>
        getOwn('/v1/orders', frame, { ...query, status: 'open', limit: PAGE_ROWS, before }),
      ),
    fills: (frame, query) => getOwn('/v1/fills', frame, query),
    closeOuts: (frame, query) => getOwn('/v1/close-outs', frame, query),
    placeOrder: (body) => placing.placeOrder(body),
    validateOrder: (body) => post('/v1/orders/validate', body),
    cancelOrder: async (body) => (await post<OrderAnswer>('/v1/orders/cancel', body)).order,
    replaceOrder: (body) => placing.replaceOrder(body),
    reduceOrder: async (body) => (await post<OrderAnswer>('/v1/orders/reduce', body)).order,
    placeOrders: async (orders) =>
      (await post<BatchAnswer>('/v1/orders/batch', { orders })).results,
    cancelAll: (body, frame) => post('/v1/orders/cancel-all', body, frame),
    cancelList: (body, frame) => post('/v1/orders/cancel-list', body, frame),
    cancelAllAfter: (body, frame) => post('/v1/orders/cancel-all-after', body, frame),
    order,
    explainOrder: (orderId, frame) => {
      const path = `/v1/orders/${encodeURIComponent(orderId)}/explain`
      return frame === undefined ? get(path) : getOwn(path, frame)
    },
    health: () => send('/v1/health'),
    time: () => send('/v1/time'),
    venue,
    domain: async () => domainOf(await venue()),
  }
}

/** The orders of all pages in their order. */
async function allOrders(
  read: (before: string | undefined) => Promise<OrderHistoryPage>,
): Promise<OrderRecord[]> {
  const orders: OrderRecord[] = []
  for (let before: string | undefined; ;) {
    const page = await read(before)
    orders.push(...page.orders)
    if (page.next_before === undefined) return orders
    before = page.next_before
  }
}
