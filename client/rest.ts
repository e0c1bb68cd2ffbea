import { OutcomeUnknown, type Query, VenueRefused, ask, jsonBody, urlOf } from './ask.js'
import type {
  BookSnapshot,
  CandleInterval,
  CandlesPage,
  FillsPage,
  MarketRecord,
  OrderBody,
  OrderHistoryPage,
  OrderRecord,
  TickerRecord,
  TradesPage,
} from './records.js'
import { type AuthFrameRecord, frameHeader } from './sign-frame.js'

export interface RestClientOptions {
  /** How long to wait for one answer. */
  readonly timeoutMs?: number
  /** How often a submission whose outcome is unknown is sent again before giving up. */
  readonly resends?: number
}

/** Names one of the owner's orders; signCancel adds the proof that some venues want. */
export interface CancelBody {
  readonly owner_address: string
  readonly nonce: string
  readonly reason?: string
  readonly signer_address?: string
  /** Unix seconds. */
  readonly expiry?: number
  readonly signature?: string
}

/** Which page of one's history: at most 100 rows, older than `next_before` of the page before. */
export interface HistoryQuery {
  readonly limit?: number
  readonly before?: string
}

/** The venue's REST interface. Every method throws VenueRefused or OutcomeUnknown. */
export interface RestClient {
  markets(): Promise<MarketRecord[]>
  book(market: string, options?: { readonly depth?: number }): Promise<BookSnapshot>
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
  /** Every order of the frame's owner, newest first. The frame is signed with the purpose `history`. */
  orderHistory(frame: AuthFrameRecord, query?: HistoryQuery): Promise<OrderHistoryPage>
  /** What the orders of the frame's owner traded, newest first. The frame is signed with the purpose `history`. */
  fills(frame: AuthFrameRecord, query?: HistoryQuery): Promise<FillsPage>
  /**
   * Places a signed order and returns it. Sends the same body again while the outcome is unknown, which is safe
   * because the order's id is taken once; an order that turns out to be there already is returned, not refused.
   */
  placeOrder(body: OrderBody): Promise<OrderRecord>
  /** Cancels an active order and returns it. */
  cancelOrder(body: CancelBody): Promise<OrderRecord>
  order(orderId: string): Promise<OrderRecord>
  health(): Promise<Readonly<Record<string, unknown>>>
}

const TIMEOUT_MS = 10_000
const RESENDS = 2

/** A client of the venue at `baseUrl`, for example `http://127.0.0.1:8080`. */
export function createRestClient(baseUrl: string, options: RestClientOptions = {}): RestClient {
  const { timeoutMs = TIMEOUT_MS, resends = RESENDS } = options
  const get = <T>(path: string, query: Query = {}, headers = {}): Promise<T> =>
    ask<T>(urlOf(baseUrl, path, query), { headers, signal: AbortSignal.timeout(timeoutMs) })
  const getOwn = <T>(path: string, frame: AuthFrameRecord, query: HistoryQuery = {}): Promise<T> =>
    get(path, { ...query }, { 'X-Service-Auth': frameHeader(frame) })
  const post = <T>(path: string, body: object): Promise<T> =>
    ask<T>(urlOf(baseUrl, path), { ...jsonBody(body), signal: AbortSignal.timeout(timeoutMs) })

  async function placeOrder(body: OrderBody): Promise<OrderRecord> {
    for (let left = resends; ; left--) {
      try {
        return (await post<{ order: OrderRecord }>('/v1/orders', body)).order
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
    orderHistory: (frame, query) => getOwn('/v1/orders', frame, query),
    fills: (frame, query) => getOwn('/v1/fills', frame, query),
    placeOrder,
    cancelOrder: async (body) =>
      (await post<{ order: OrderRecord }>('/v1/orders/cancel', body)).order,
    order: (orderId) => get(`/v1/orders/${encodeURIComponent(orderId)}`),
    health: () => get('/v1/health'),
  }
}

/** The order that the refusal of a repeated submission carries. */
function storedOrder(error: unknown): OrderRecord | undefined {
  if (!(error instanceof VenueRefused) || error.status !== 409) return undefined
  return error.body.order as OrderRecord | undefined
}
