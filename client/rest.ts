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
import type { PositionsBody } from '../interface/position.js'
import type {
  CandleInterval,
  CandlesPage,
  FillsPage,
  TickerRecord,
  TradesPage,
} from '../interface/trade.js'
import type { OrderVerdict } from '../interface/validation.js'
import type { Health } from '../interface/venue.js'
import { jsonBody, OutcomeUnknown, request, urlOf, VenueRefused, type Query } from './request.js'
import { frameHeader, type SignedFrame } from './sign-frame.js'

export interface RestClientOptions {
  /** How long to wait for one answer. */
  readonly timeoutMs?: number
  /** How often a submission whose outcome is unknown is sent again. */
  readonly resends?: number
}

/** A page of the history: at most 100 rows (default 50), older than `before`, the `next_before` of the previous page. */
export interface HistoryQuery {
  readonly limit?: number
  readonly before?: string
}

/** The venue's REST interface. Every method throws VenueRefused or OutcomeUnknown. */
export interface RestClient {
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
  tickers(): Promise<TickerRecord[]>
  /** An account of perpetual markets as one block of the chain shows it; needs no signature. */
  positions(subaccountId: string): Promise<PositionsBody>
  /** Every order of the frame's owner, newest first. The frame is signed with the purpose `history`. */
  orderHistory(frame: SignedFrame, query?: HistoryQuery): Promise<OrderHistoryPage>
  /** What the orders of the frame's owner traded, newest first. The frame is signed with the purpose `history`. */
  fills(frame: SignedFrame, query?: HistoryQuery): Promise<FillsPage>
  /**
   * Places a signed order and returns it. Sends the same body again while the outcome is unknown, which is safe because
   * an order id is accepted once. If the order exists already, its record is returned.
   */
  placeOrder(body: NewOrder): Promise<OrderRecord>
  /** What would become of an order; nothing is placed. Names the likely mistake of a refused signature. */
  validateOrder(body: NewOrder): Promise<OrderVerdict>
  /** Cancels an active order and returns it; signCancel makes the body for venues that require a proof. */
  cancelOrder(body: CancelOrder): Promise<OrderRecord>
  order(orderId: string): Promise<OrderLookup>
  health(): Promise<Health>
}

const TIMEOUT_MS = 10_000
const RESENDS = 2

/** A client of the venue at `baseUrl`, for example `http://127.0.0.1:8080`. */
export function createRestClient(baseUrl: string, options: RestClientOptions = {}): RestClient {
  const { timeoutMs = TIMEOUT_MS, resends = RESENDS } = options
  const get = <T>(path: string, query: Query = {}, headers = {}): Promise<T> =>
    request<T>(urlOf(baseUrl, path, query), { headers, signal: AbortSignal.timeout(timeoutMs) })
  const getOwn = <T>(path: string, frame: SignedFrame, query: HistoryQuery = {}): Promise<T> =>
    get(path, { ...query }, { 'X-Service-Auth': frameHeader(frame) })
  const post = <T>(path: string, body: object): Promise<T> =>
    request<T>(urlOf(baseUrl, path), { ...jsonBody(body), signal: AbortSignal.timeout(timeoutMs) })

  async function placeOrder(body: NewOrder): Promise<OrderRecord> {
    for (let left = resends; ; left--) {
      try {
        return (await post<OrderAnswer>('/v1/orders', body)).order
      } catch (error) {
        const known = storedOrder(error)
        if (known !== undefined) return known
        if (!(error instanceof OutcomeUnknown) || left === 0) throw error
      }
    }
  }

  return {
    markets: () => get('/v1/markets'),
    book: (market, { depth } = {}) => get('/v1/book', { symbol: market, depth }),
    trades: (market, { limit, beforeTradeId } = {}) =>
      get('/v1/trades', { symbol: market, limit, before_trade_id: beforeTradeId }),
    candles: (market, interval, options = {}) =>
      get('/v1/candles', { symbol: market, interval, ...options }),
    tickers: () => get('/v1/integrations/tickers'),
    positions: (subaccountId) => get('/v1/positions', { subaccount_id: subaccountId }),
    orderHistory: (frame, query) => getOwn('/v1/orders', frame, query),
    fills: (frame, query) => getOwn('/v1/fills', frame, query),
    placeOrder,
    validateOrder: (body) => post('/v1/orders/validate', body),
    cancelOrder: async (body) => (await post<OrderAnswer>('/v1/orders/cancel', body)).order,
    order: (orderId) => get(`/v1/orders/${encodeURIComponent(orderId)}`),
    health: () => get('/v1/health'),
  }
}

/** The order that the refusal of a repeated submission carries. */
function storedOrder(error: unknown): OrderRecord | undefined {
  if (!(error instanceof VenueRefused) || error.status !== 409) return undefined
  return error.body.order as OrderRecord | undefined
}
