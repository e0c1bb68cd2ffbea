import type { BookSnapshot, MarketRecord, OrderBody, OrderRecord, TradesPage } from './records.js'

/** The venue said no: nothing was changed. `code` is stable, the message is meant for people. */
export class VenueRefused extends Error {
  override readonly name = 'VenueRefused'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The whole answer, with whatever else it says. */
    readonly body: Readonly<Record<string, unknown>>,
  ) {
    super(message)
  }
}

/** No answer, or one that says that the venue does not know: what was asked may or may not have happened. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

export interface RestClientOptions {
  /** How long to wait for one answer. */
  readonly timeoutMs?: number
  /** How often a submission whose outcome is unknown is sent again before giving up. */
  readonly resends?: number
}

/** Names one of the owner's orders. */
export interface CancelBody {
  readonly owner_address: string
  readonly nonce: string
  readonly reason?: string
}

/** The venue's REST interface. Every method throws VenueRefused or OutcomeUnknown. */
export interface RestClient {
  markets(): Promise<MarketRecord[]>
  book(market: string, options?: { readonly depth?: number }): Promise<BookSnapshot>
  trades(
    market: string,
    options?: { readonly limit?: number; readonly beforeTradeId?: number },
  ): Promise<TradesPage>
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
  const get = <T>(path: string, query: Query = {}): Promise<T> =>
    ask<T>(urlOf(baseUrl, path, query), { signal: AbortSignal.timeout(timeoutMs) })
  const post = <T>(path: string, body: object): Promise<T> =>
    ask<T>(urlOf(baseUrl, path), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    })

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
    placeOrder,
    cancelOrder: async (body) =>
      (await post<{ order: OrderRecord }>('/v1/orders/cancel', body)).order,
    order: (orderId) => get(`/v1/orders/${encodeURIComponent(orderId)}`),
    health: () => get('/v1/health'),
  }
}

type Query = Readonly<Record<string, string | number | undefined>>

function urlOf(baseUrl: string, path: string, query: Query = {}): string {
  const url = new URL(path, baseUrl)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value.toString())
  }
  return url.href
}

async function ask<T>(url: string, init: RequestInit): Promise<T> {
  const { status, body } = await exchange(url, init)
  if (status >= 200 && status < 300) return body as T
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const error = typeof fields.error === 'string' ? fields.error : `status ${status}`
  if (status >= 500) throw new OutcomeUnknown(error)
  const message = typeof fields.message === 'string' ? fields.message : error
  const code = typeof fields.code === 'string' ? fields.code : error
  throw new VenueRefused(status, code, message, fields)
}

async function exchange(
  url: string,
  init: RequestInit,
): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(url, init)
    return { status: response.status, body: await response.json() }
  } catch (cause) {
    throw new OutcomeUnknown(`no answer from ${new URL(url).pathname}`, { cause })
  }
}

/** The order that the refusal of a repeated submission carries. */
function storedOrder(error: unknown): OrderRecord | undefined {
  if (!(error instanceof VenueRefused) || error.status !== 409) return undefined
  return error.body.order as OrderRecord | undefined
}
