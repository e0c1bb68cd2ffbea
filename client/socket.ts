import type { AccountBalances } from '../interface/balances.js'
import type { FillEvent } from '../interface/fill-event.js'
import type { BookRecord, OrderRecord } from '../interface/order.js'
import type { LiquidationRecord } from '../interface/liquidation.js'
import type {
  CandleState,
  LevelDepth,
  LevelsSnapshot,
  LevelsUpdate,
  StatusState,
  TickerState,
} from '../interface/market-data.js'
import type { BookDelta, OrderDelta, TradeDelta } from '../interface/socket.js'
import type { CandleInterval, TradeRecord } from '../interface/trade.js'
import {
  createReconnectingSocket,
  type ReconnectingSocket,
  type SocketTiming,
  type WebSocketConstructor,
} from './reconnecting-socket.js'
import type { SeenSeqs } from './seen-seqs.js'
import type { SignedFrame } from './sign-frame.js'
import { createSocketAuth, type SocketAuth } from './socket-auth.js'
import { createSocketGuards, type DeadMan, type LeaseOptions } from './socket-guards.js'
import { createPendingOrders, type ResultFrame, type SocketOrders } from './socket-orders.js'

/** What each channel delivers; the private ones show what concerns the address that the client authenticates. */
export interface ChannelData {
  readonly book: { readonly snapshot: BookRecord; readonly update: BookDelta }
  readonly trades: { readonly snapshot: readonly TradeRecord[]; readonly update: TradeDelta }
  readonly orders: { readonly snapshot: readonly OrderRecord[]; readonly update: OrderDelta }
  readonly fills: { readonly snapshot: readonly FillEvent[]; readonly update: FillEvent }
  /** Of no market: all accounts of the owner in each frame. */
  readonly balances: {
    readonly snapshot: readonly AccountBalances[]
    readonly update: readonly AccountBalances[]
  }
  /** Of no market: those of all markets, newest first; in an update first those that are taken back, with `reversed`. */
  readonly liquidations: {
    readonly snapshot: readonly LiquidationRecord[]
    readonly update: readonly LiquidationRecord[]
  }
  readonly levels: { readonly snapshot: LevelsSnapshot; readonly update: LevelsUpdate }
  readonly candles: { readonly snapshot: readonly CandleState[]; readonly update: CandleState }
  readonly ticker: { readonly snapshot: TickerState; readonly update: TickerState }
  readonly status: { readonly snapshot: StatusState; readonly update: StatusState }
}

/** What else a subscription names; each depth and each interval is a subscription of its own. */
export interface ChannelOptions {
  /** Of `levels`: levels of each side, 25 by default. */
  readonly depth?: LevelDepth
  /** Of `candles`: 1h by default. */
  readonly interval?: CandleInterval
}

const PRIVATE: ReadonlySet<keyof ChannelData> = new Set(['orders', 'fills', 'balances'])

/** The channels of markets. */
export type OfMarkets = Exclude<keyof ChannelData, 'balances' | 'liquidations'>

/** Receives one channel of one market: a snapshot first, then every later change once and in order. */
export interface ChannelHandler<Channel extends keyof ChannelData> {
  /** Sent again when the venue cannot replay what was missed: replace all earlier state. */
  onSnapshot(data: ChannelData[Channel]['snapshot'], seq: number): void
  onUpdate(data: ChannelData[Channel]['update'], seq: number): void
  /** The venue refused the subscription, for example with `unknown_market`; it has ended. */
  onRefused?(code: string, message: string): void
}

export interface SocketClient extends SocketOrders {
  /**
   * Follows a channel through reconnects until the returned function is called. One handler per channel, market, depth and
   * interval.
   */
  subscribe<Channel extends OfMarkets>(
    channel: Channel,
    market: string,
    handler: ChannelHandler<Channel>,
    options?: ChannelOptions,
  ): () => void
  /** The same of the balances of the address that the client authenticates. */
  subscribeBalances(handler: ChannelHandler<'balances'>): () => void
  /** The same of the liquidations of all markets; needs no signature. */
  subscribeLiquidations(handler: ChannelHandler<'liquidations'>): () => void
  /**
   * Cancels all orders of the address that the client authenticates, or those of one market, unless this program goes on: renewed on
   * every connection until the returned function is called, which disarms it.
   */
  readonly deadMan: DeadMan
  isOpen(): boolean
  /** How many connections it has opened: one more than its reconnects. */
  connections(): number
  /** Milliseconds since anything arrived: a venue that lives answers each ping, `timing.pingEveryMs` apart. */
  quietMs(): number
  /** Ends all subscriptions: no handler is called for what arrives afterwards. */
  close(): void
}

export interface SocketClientOptions {
  /** For example `ws://127.0.0.1:8080/v1/ws`. */
  readonly url: string
  /** Default: the platform's own. */
  readonly WebSocket?: WebSocketConstructor
  /** Signs a new frame for each connection that follows a private channel; for example `() => signFrame(account, { purpose: 'socket', domain })`. */
  readonly authenticate?: () => Promise<SignedFrame>
  readonly timing?: Partial<SocketTiming>
  /** Told what frames and results show of each market; that of a REST client of the same venue, whose reads then show at least that. */
  readonly seen?: SeenSeqs
  /**
   * With it the orders that are placed by this client end with its connection. Until the lease of a connection is held none is sent:
   * placing one throws OutcomeUnknown.
   */
  readonly lease?: LeaseOptions
  /** How long to wait for the answer to an order or a cancel; default ten seconds. */
  readonly timeoutMs?: number
}

interface ChannelStream {
  readonly id: string
  readonly channel: keyof ChannelData
  /** As the caller named it; frames carry the canonical name. */
  readonly market: string | undefined
  readonly options: ChannelOptions
  readonly handler: ChannelHandler<never>
  canonical: string | undefined
  /** Sequence of what was applied last; undefined before the first snapshot. */
  seq: number | undefined
}

interface ServerFrame extends ResultFrame {
  readonly channel?: string
  readonly market?: string
  readonly depth?: number
  readonly interval?: string
  readonly seq?: number
  readonly prev_seq?: number
  readonly data?: never
}

const RESET_DELAY_MS = 500

/** Named in every subscription, because its frames name them. */
const DEFAULTS: { readonly [Channel in keyof ChannelData]?: ChannelOptions } = {
  levels: { depth: 25 },
  candles: { interval: '1h' },
}

/**
 * A client of the venue's WebSocket. It reconnects, authenticates and resumes each subscription from the last applied
 * `seq`, drops duplicates, and resumes again when it detects a gap.
 */
export function createSocketClient(options: SocketClientOptions): SocketClient {
  const streams = new Map<string, ChannelStream>()
  let streamCount = 0
  const socket = createReconnectingSocket({
    ...options,
    onOpen() {
      auth.onOpen()
      streams.forEach(request)
      if (guards.isNeeded() || orders.isWaiting()) auth.start()
    },
    onLost: () => [auth, orders, guards].forEach((each) => each.onLost()),
    onText(text) {
      const frame = JSON.parse(text) as ServerFrame
      if (orders.onFrame(frame) || auth.onFrame(frame) || guards.onFrame(frame)) return
      noteSeen(options.seen, frame)
      receive({ streams, socket, request }, frame)
    },
  })
  const authenticated = (): boolean => isProven(socket, auth)
  const send = (frame: object): void => socket.send(frame)
  const guards = createSocketGuards({ lease: options.lease, authenticated, send })
  const orders = createPendingOrders({
    ...options,
    authenticated,
    send: (frame: object) => sendOver(socket, frame),
    holdBack: () => guards.holdBack(),
  })
  const auth = createSocketAuth({
    sign: options.authenticate,
    send,
    onReady() {
      guards.onReady()
      privateStreams().forEach(request)
      orders.onReady()
    },
    onRefused(message) {
      privateStreams().forEach((stream) => refuse(streams, stream, ['auth_failed', message]))
      ;[guards, orders].forEach((each) => each.onRefused(message))
    },
  })
  const privateStreams = () => [...streams.values()].filter(({ channel }) => PRIVATE.has(channel))

  const request = (stream: ChannelStream): void => subscribeOver(socket, auth, stream)

  function follow<Channel extends keyof ChannelData>(
    channel: Channel,
    market: string | undefined,
    handler: ChannelHandler<Channel>,
    asked: ChannelOptions = {},
  ): () => void {
    const options = { ...DEFAULTS[channel], ...asked }
    refuseSecond([...streams.values()], { channel, market, options })
    const id = `${++streamCount}`
    const stream = { id, channel, market, options, handler, canonical: undefined, seq: undefined }
    streams.set(id, stream)
    request(stream)
    const frame = { op: 'unsubscribe', channel, market, ...options }
    return () => void (streams.delete(id) && socket.send(frame))
  }

  return {
    subscribe: follow,
    subscribeBalances: (handler) => follow('balances', undefined, handler),
    subscribeLiquidations: (handler) => follow('liquidations', undefined, handler),
    ...orders.entry,
    deadMan: (asked) => guards.deadMan(asked),
    isOpen: () => socket.isOpen(),
    quietMs: () => socket.quietMs(),
    connections: () => socket.connections(),
    close: () => [guards, socket].forEach((each) => each.close()),
  }
}

/** Asks for the stream from where it stands; a private one once the connection is authenticated. */
function subscribeOver(socket: ReconnectingSocket, auth: SocketAuth, stream: ChannelStream): void {
  const { id, channel, market, options, seq } = stream
  if (!socket.isOpen()) return
  if (PRIVATE.has(channel) && !auth.isReady()) return auth.start()
  socket.send({ op: 'subscribe', channel, market, ...options, since_seq: seq, req_id: id })
}

/** Whether the connection is authenticated; begins that when it is open and not. */
function isProven(socket: ReconnectingSocket, auth: SocketAuth): boolean {
  if (socket.isOpen() && !auth.isReady()) auth.start()
  return auth.isReady()
}

/** False without a connection, and then nothing is sent. */
function sendOver(socket: ReconnectingSocket, frame: object): boolean {
  if (socket.isOpen()) socket.send(frame)
  return socket.isOpen()
}

/** The channels whose `seq` is the number of a change of the market. */
const NUMBERED_BY_CHANGE: ReadonlySet<string> = new Set(['book', 'trades', 'orders', 'levels'])

function noteSeen(seen: SeenSeqs | undefined, { channel = '', market, seq }: ServerFrame): void {
  if (market === undefined || seq === undefined) return
  if (NUMBERED_BY_CHANGE.has(channel)) seen?.note(market, seq)
  // Twice that of a trade; an odd one is of the end of a candle's time.
  if (channel === 'candles') seen?.note(market, Math.floor(seq / 2))
}

interface Receiver {
  readonly streams: Map<string, ChannelStream>
  readonly socket: ReconnectingSocket
  readonly request: (stream: ChannelStream) => void
}

function receive(receiver: Receiver, frame: ServerFrame): void {
  const stream = streamOf([...receiver.streams.values()], frame)
  if (stream === undefined) return
  if (frame.type === 'snapshot') onSnapshot(stream, frame)
  else if (frame.type === 'update') onUpdate(receiver, stream, frame)
  else if (frame.type === 'error') onError(receiver, stream, frame)
}

function onSnapshot(stream: ChannelStream, { market, seq = 0, data }: ServerFrame): void {
  stream.canonical = market
  stream.seq = seq
  stream.handler.onSnapshot(data as never, seq)
}

function onUpdate({ socket }: Receiver, stream: ChannelStream, frame: ServerFrame): void {
  const { seq = 0, prev_seq = 0, data } = frame
  if (stream.seq === undefined || seq <= stream.seq) return
  // A gap: a new connection resumes from the last applied sequence.
  if (prev_seq > stream.seq) return socket.reconnect()
  stream.seq = seq
  stream.handler.onUpdate(data as never, seq)
}

function onError({ streams, request }: Receiver, stream: ChannelStream, frame: ServerFrame): void {
  const { code = '', message = '' } = frame
  if (code === 'resume_too_old' || code === 'slow_consumer') return
  if (code === 'stream_reset' || code === 'snapshot_failed') {
    setTimeout(() => streams.has(stream.id) && request(stream), RESET_DELAY_MS)
    return
  }
  refuse(streams, stream, [code, message])
}

function refuse(
  streams: Map<string, ChannelStream>,
  stream: ChannelStream,
  [code, message]: readonly [string, string],
): void {
  streams.delete(stream.id)
  stream.handler.onRefused?.(code, message)
}

/** By `req_id` when the frame answers a request, otherwise by channel and market. */
function streamOf(
  streams: readonly ChannelStream[],
  frame: ServerFrame,
): ChannelStream | undefined {
  const { req_id, channel, market } = frame
  return (
    streams.find((one) => one.id === req_id) ??
    streams.find((one) => one.channel === channel && one.canonical === market && isOf(one, frame))
  )
}

/** Throws when the same is followed already. */
function refuseSecond(
  streams: readonly ChannelStream[],
  { channel, market, options }: Pick<ChannelStream, 'channel' | 'market' | 'options'>,
): void {
  const isSame = (one: ChannelStream): boolean =>
    one.channel === channel && one.market === market && isOf(one, options)
  if (streams.some(isSame)) {
    throw new Error(`${channel} of ${market ?? 'no market'} is followed already`)
  }
}

/** Whether a stream has this depth and interval. */
const isOf = (
  { options }: ChannelStream,
  { depth, interval }: Pick<ServerFrame, 'depth' | 'interval'>,
) => options.depth === depth && options.interval === interval
