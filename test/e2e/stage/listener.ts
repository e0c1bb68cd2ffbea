import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import {
  createLocalBook,
  type BookDelta,
  type BookRecord,
  type LocalBook,
  type OrderRecord,
  type TradeRecord,
} from '../../../client/index.js'
import type { Hex } from '../../../core/action.js'
import { addressOf, signedAuth } from '../../support/auth-frames.js'
import type { Frame } from '../../support/socket-client.js'
import type { TestVenue } from '../../support/venue.js'
import { SPOT } from './trader.js'

const RETRY_MS = 50

export type ListenerChannel = 'book' | 'trades' | 'orders'

/** Where one of the owner's orders stands, as the `orders` channel says it. */
export type OwnOrder = Pick<OrderRecord, 'status' | 'filled_amount'>

/**
 * A client that folds what it is sent, and resumes after whatever ends its connection. It trusts nothing: what is
 * sent twice, left out, or not asked for goes to `faults`.
 */
export interface Listener {
  readonly name: string
  readonly book: LocalBook
  /** By id. */
  readonly trades: Map<number, TradeRecord>
  readonly orders: Map<string, OwnOrder>
  /** Every sequence applied, snapshots' included. */
  readonly seqs: Readonly<Record<ListenerChannel, number[]>>
  readonly faults: string[]
  /** Owner of the followed orders, lower-case; undefined: it follows none. */
  readonly owner: string | undefined
  /** Connections that were opened. */
  connections(): number
  /** The longest that a live book frame took from its change's time to here, in ms; replays do not count. */
  longestLagMs(): number
  /** Drops the connection, as a network would; it is opened again by itself. */
  drop(): void
  /** Reads nothing for so long. */
  stall(ms: number): void
  end(): void
}

export interface ListenerOptions {
  readonly name: string
  /** Whose orders to follow; none when absent. */
  readonly privateKey?: Hex
}

export function startListener(venue: TestVenue, { name, privateKey }: ListenerOptions): Listener {
  const url = new URL('/v1/ws', venue.gatewayUrl.replace(/^http/, 'ws'))
  const channels: ListenerChannel[] = ['book', 'trades']
  if (privateKey !== undefined) channels.push('orders')
  const book = createLocalBook()
  const trades = new Map<number, TradeRecord>()
  const orders = new Map<string, OwnOrder>()
  const seqs: Record<ListenerChannel, number[]> = { book: [], trades: [], orders: [] }
  const faults: string[] = []
  let ws: WebSocket | undefined
  let isOver = false
  let connections = 0
  let longestLagMs = 0
  let connectedAtMs = Infinity
  /** Sequence of the newest update of each channel; what is before the first is not known. */
  const updatedTo: Partial<Record<ListenerChannel, number>> = {}

  function onFrame(frame: Frame): void {
    const { type, channel, seq = 0, code } = frame
    if (type === 'error' && code !== 'slow_consumer') faults.push(`error ${code} on ${channel}`)
    if (type !== 'snapshot' && type !== 'update') return
    const known = channel as ListenerChannel
    const last = seqs[known].at(-1)
    if (type === 'snapshot') {
      if (last !== undefined) faults.push(`${known}: snapshot ${seq} instead of resuming ${last}`)
      applySnapshot(known, seq, frame.data)
    } else {
      checkFollows(known, frame)
      updatedTo[known] = seq
      applyUpdate(known, seq, frame)
    }
    seqs[known].push(seq)
  }

  function checkFollows(channel: ListenerChannel, { seq = 0, prev_seq = -1 }: Frame): void {
    const last = seqs[channel].at(-1) ?? -1
    const updated = updatedTo[channel]
    const follows = updated === undefined ? prev_seq <= last : prev_seq === updated
    if (!follows || seq <= last) faults.push(`${channel}: ${prev_seq} -> ${seq} after ${last}`)
  }

  function applySnapshot(channel: ListenerChannel, seq: number, data: unknown): void {
    if (channel === 'book') book.reset(data as BookRecord, seq)
    else if (channel === 'trades')
      for (const trade of data as TradeRecord[]) trades.set(trade.trade_id, trade)
    else for (const order of data as OrderRecord[]) orders.set(order.order_id, order)
  }

  function applyUpdate(channel: ListenerChannel, seq: number, frame: Frame): void {
    if (channel === 'book') {
      book.apply(frame.data as BookDelta, seq)
      const { ts = '' } = frame as { readonly ts?: string }
      const changedAtMs = Date.parse(ts)
      if (changedAtMs > connectedAtMs)
        longestLagMs = Math.max(longestLagMs, Date.now() - changedAtMs)
    } else if (channel === 'trades') {
      const trade = frame.data as TradeRecord
      trades.set(trade.trade_id, trade)
    } else {
      const order = frame.data as OrderRecord
      orders.set(order.order_id, order)
    }
  }

  async function converse(): Promise<void> {
    const socket = new WebSocket(url)
    ws = socket
    socket.on('error', () => undefined)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('message', (data: Buffer) => {
      // What arrives after the connection was dropped was not received.
      if (ws === socket) onFrame(JSON.parse(data.toString()) as Frame)
    })
    socket.once('open', () => {
      connections += 1
      connectedAtMs = Date.now()
      void ask(socket)
    })
    await closed
  }

  async function ask(socket: WebSocket): Promise<void> {
    const { auth_domain: domain } = venue.devnet
    if (privateKey !== undefined) {
      socket.send(JSON.stringify(await signedAuth({ privateKey, domain })))
    }
    for (const channel of channels) {
      const since_seq = seqs[channel].at(-1)
      socket.send(JSON.stringify({ op: 'subscribe', channel, market: SPOT, since_seq }))
    }
  }

  async function run(): Promise<void> {
    while (!isOver) {
      await converse()
      if (!isOver) await delay(RETRY_MS)
    }
  }

  function drop(): void {
    const socket = ws
    ws = undefined
    socket?.terminate()
  }

  void run()
  return {
    name,
    book,
    trades,
    orders,
    seqs,
    faults,
    drop,
    owner: privateKey === undefined ? undefined : addressOf(privateKey),
    connections: () => connections,
    longestLagMs: () => longestLagMs,
    stall(ms) {
      const socket = ws
      if (socket?.readyState !== WebSocket.OPEN) return
      socket.pause()
      setTimeout(() => socket.resume(), ms)
    },
    end() {
      isOver = true
      drop()
    },
  }
}
