import { request as httpRequest, type Server } from 'node:http'
import { createOwnWrites } from '../../api-gateway/reads.js'
import type { Address } from '../../core/action.js'
import type { Deployment } from '../../chain/reads/deployment.js'
import { createConnection } from 'node:net'
import { createApp } from '../../api-gateway/app.js'
import type { GatewayDeps } from '../../api-gateway/context.js'
import { createBooks, type Books } from '../../api-gateway/books/books.js'
import { createBookRenderer } from '../../api-gateway/books/render-book.js'
import { readFeedHeads } from '../../api-gateway/health.js'
import { createIndexGate } from '../../api-gateway/index-lag.js'
import {
  decodeOrderRequest,
  encodeOrderAnswer,
  type OrderReply,
  type OrderRequest,
} from '../../bus-schemas/orders.js'
import { askCancelOrder, askPlaceOrder } from '../../bus-schemas/subjects.js'
import type { Side } from '../../core/model/order.js'
import type { OpenOrder } from '../../core/records/order-record.js'
import type { Trade, TradeStats } from '../../core/records/trade-record.js'
import type { OpenOrderRow, BookState, IsKnown } from '../../data/history/read-book.js'
import type { ReadModel } from '../../data/history/read-model.js'
import type { StoredOrder } from '../../data/history/read-orders.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import {
  closeServer,
  createHttpServer,
  listen,
  type ServerLimits,
} from '../../runtime/http/server.js'
import { aMarket } from './builders.js'
import { undocumented } from './documented.js'
import { silentLog } from './intake-stage.js'

/** A read model whose answers a test writes down. */
export interface FakeReadModel extends ReadModel {
  projected: number
  readonly orders: Map<string, StoredOrder>
  open: OpenOrder[]
  tradesNewestFirst: Trade[]
  stats: TradeStats | undefined
}

export function aFakeReadModel(): FakeReadModel {
  const orders = new Map<string, StoredOrder>()
  const model: FakeReadModel = {
    projected: 0,
    orders,
    open: [],
    tradesNewestFirst: [],
    stats: undefined,
    atOnce: (read) => read(),
    projectedSeq: () => model.projected,
    terms: () => undefined,
    allTerms: () => [],
    order: (orderId) => orders.get(orderId),
    openOrders: () => model.open,
    ordersWithin: (_, side) => model.open.filter(({ order }) => order.side === side),
    book: (market, isKnown) => bookOf(model, market, isKnown),
    bestPrices: () => ({}),
    levelsNow: () => ({ seq: model.projected, bids: [], asks: [] }),
    orderHistory: () => [],
    fills: () => [],
    closeOuts: () => [],
    liquidations: () => [],
    orderLife: () => ({ events: [], fills: [], isWhole: true }),
    positionEntry: () => undefined,
    candles: () => [],
    marks: () => [],
    fundingRates: () => [],
    lastPrice: () => undefined,
    trades: (_market, limit, before = Number.MAX_SAFE_INTEGER) =>
      model.tradesNewestFirst.filter(({ fill }) => fill.tradeId < before).slice(0, limit),
    liveOrders: () => [],
    tradesWithin: (_market, { limit }) => model.tradesNewestFirst.slice(0, limit),
    stats24h: () => model.stats,
    lastTradeSec: () => undefined,
    close: () => undefined,
  }
  return model
}

/** The open orders as rows of a book; an order's key and the change that made it so are its rank. */
function bookOf(model: FakeReadModel, market: string, isKnown: IsKnown): BookState {
  const sideOf = (side: Side): OpenOrderRow[] =>
    model
      .openOrders(market)
      .filter(({ order }) => order.side === side)
      .map((open) => {
        const row = { key: open.rank, updatedSeq: open.rank }
        return isKnown(row.key, row.updatedSeq) ? row : { ...row, open }
      })
  const bids = sideOf('buy')
  const asks = sideOf('sell')
  return { seq: model.projected, lastTradeSec: model.lastTradeSec(market), bids, asks }
}

/** Books that are rendered in the test's own thread. */
export function aBookShelf(readModel: ReadModel): Books {
  const render = createBookRenderer(readModel)
  return createBooks({ render: (market) => Promise.resolve(render(market)), readModel })
}

const at = (byte: string): Address => `0x${byte.repeat(20)}`

/** A deployment whose addresses differ from each other. */
export const A_DEPLOYMENT: Deployment = {
  chainId: 84_532,
  matching: at('a1'),
  subAccounts: at('a2'),
  depositModule: at('a3'),
  withdrawalModule: at('a4'),
  usdc: at('a5'),
  cngn: at('a6'),
  wrappedUsdc: at('a7'),
  wrappedCngn: at('a8'),
  cashAsset: at('a9'),
  perpManager: at('aa'),
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The body as JSON; empty when it is none. */
  readonly json: Record<string, unknown>
}

export interface GatewayStage {
  readonly port: number
  readonly server: Server
  readonly bus: MemoryBus
  readonly readModel: FakeReadModel
  /** How long the gateway waited for each answer at most, in milliseconds. */
  readonly waits: readonly number[]
  /** Requests that reached the intake. */
  readonly asked: OrderRequest[]
  /** Makes the intake answer so; undefined: not at all. */
  answerWith(answer: OrderReply | undefined): void
  /** Rejects when the answer is not what the gateway's own document says. */
  send(method: string, path: string, options?: SendOptions): Promise<Answered>
  /** Writes raw bytes onto a connection and resolves with everything that came back until it closed. */
  raw(bytes: string | readonly string[]): Promise<string>
  /** The same with each piece in a turn of its own. */
  inPieces(pieces: readonly (string | Buffer)[]): Promise<string>
  close(): Promise<void>
}

export interface SendOptions {
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown
  /** What is answered 200 must then be a documented request. */
  readonly judged?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

/** A gateway on a port of its own, over a bus in memory and a read model made of what the test says. */
export async function aGatewayStage(
  overrides: Partial<GatewayDeps> = {},
  limits: Partial<ServerLimits> = {},
): Promise<GatewayStage> {
  const waits: number[] = []
  const setTimer = (ms: number, callback: () => void) => {
    waits.push(ms)
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  }
  const bus = createMemoryBus({ setTimer })
  const readModel = aFakeReadModel()
  const asked: OrderRequest[] = []
  let answer: OrderReply | undefined
  const onAsk = (data: Uint8Array, replyTo: string): void => {
    asked.push(decodeOrderRequest(data))
    if (answer !== undefined) bus.reply(replyTo, encodeOrderAnswer(answer))
  }
  await bus.answer(askPlaceOrder, 'order-intake', onAsk)
  await bus.answer(askCancelOrder, 'order-intake', onAsk)
  const app = createApp({
    bus,
    markets: [aMarket()],
    refreshMarkets: () => undefined,
    readModel,
    ownWrites: createOwnWrites({
      readModel,
      maxWaitMs: 100,
      readHead: readFeedHeads(bus),
    }),
    books: aBookShelf(readModel),
    indexLimit: createIndexGate(bus),
    readiness: { missing: () => Promise.resolve({}) },
    deployment: A_DEPLOYMENT,
    aliasCutoffMs: Date.parse('2027-01-06T00:00:00Z'),
    auth: { header: 'X-Service-Auth', words: { domain: 'venue.test', product: 'service' } },
    trustedProxies: 0,
    isAllowedOrigin: (origin) => origin === 'https://app.example',
    nowMs: () => Date.parse('2026-11-21T10:00:00Z'),
    log: silentLog,
    ...overrides,
  })
  const server = createHttpServer(app.callback(), limits)
  const port = await listen(server, 0, '127.0.0.1')
  return {
    port,
    server,
    bus,
    readModel,
    waits,
    asked,
    answerWith: (wanted) => {
      answer = wanted
    },
    send: (method, path, options) => send(port, { method, path, ...options }),
    raw: (bytes) => raw(port, bytes),
    inPieces: (pieces) => raw(port, pieces, true),
    close: () => closeServer(server, 0),
  }
}

export interface SendRequest extends SendOptions {
  readonly method: string
  readonly path: string
}

/** One request on a connection of its own; rejects when the answer is not what the gateway's document says. */
export function send(
  port: number,
  { method, path, body, headers, judged = false }: SendRequest,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const { headers, statusCode: status = 0 } = incoming
        const sent = judged ? body : undefined
        const [wrong] = undocumented({ method, path, sent, status, headers, text })
        if (wrong !== undefined) reject(new Error(wrong))
        const json = /json/.test(headers['content-type'] ?? '') && text !== ''
        resolve({
          status,
          headers,
          text,
          json: json ? (JSON.parse(text) as Record<string, unknown>) : {},
        })
      })
    })
    if (body === undefined) outgoing.end()
    else
      outgoing.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  })
}

function raw(
  port: number,
  bytes: string | readonly (string | Buffer)[],
  isSlow = false,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port, noDelay: true })
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString()))
    // The gateway may cut a connection that goes on sending; what it had said by then counts.
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(received))
    const write = async (): Promise<void> => {
      for (const part of [bytes].flat()) {
        socket.write(part)
        if (isSlow) await new Promise((next) => setTimeout(next, 1))
      }
    }
    void write()
  })
}
